"""Comments and identifiers of source files, for words-test.

comments(path, text) yields (line number, comment); lines that follow each other are one comment, since
a phrase may be broken anywhere. identifiers(path, text) yields (line number, name). Both know C,
TypeScript, Python and shell; strings are left out, except the docstrings of Python."""
import re

STRING = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
SLASHES = r'/\*.*?\*/|//[^\n]*(?:\n[ \t]*//[^\n]*)*'
HASHES = r'#[^\n]*(?:\n[ \t]*#[^\n]*)*'
TOKEN = {
    "c": re.compile(f"{STRING}|{SLASHES}", re.S),
    # A text in backquotes may be long; a regular expression may hold a quote.
    "script": re.compile(f"{STRING}|`(?:[^`\\\\]|\\\\.)*`|{SLASHES}"
                         r"|(?<=[(,=:&|!?])\s*/(?![*/])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/", re.S),
    "python": re.compile(f'"""(?:[^\\\\]|\\\\.)*?"""|{STRING}|{HASHES}', re.S),
    "shell": re.compile(rf"'[^']*'|\"(?:[^\"\\]|\\.)*\"|(?:(?<=\s)|^){HASHES}", re.S | re.M),
}
KINDS = (((".c", ".h", ".def", ".cc"), "c"), ((".ts", ".tsx", ".mjs", ".js"), "script"),
         ((".py", ".pyi"), "python"), ((".sh",), "shell"))
DOCSTRING = re.compile(r"(?:\A(?:#[^\n]*\n)*|:\n)[ \t]*[rf]?\Z")
FRAME = re.compile(r'^[ \t]*(?:/\*+|\*+/|\*|//+|#+)[ \t]?|\*/[ \t]*$|"""', re.M)
# What a comment quotes is not its own words.
CODE = re.compile(r"`[^`]*`|https?://\S+|\b[\w/]+\.(?:[ch]|def|py|tsx?|txt|md)\b")
NAME = re.compile(r"\b[A-Za-z_]\w+\b")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def language(path, text):
    """How the comments of a file are written; None where it is not a source."""
    for suffixes, kind in KINDS:
        if path.endswith(suffixes):
            return kind
    first = text.split("\n", 1)[0]
    if first.startswith("#!"):
        return "python" if "python" in first else "script" if "node" in first else "shell"
    return None


def plain(words):
    """A comment without its frame and code. A line break and the blanks around it are one \\v, so that
    a place can be turned into a line number; the search puts a space there."""
    text = re.sub(r"[ \t]*\n[ \t]*", "\v", FRAME.sub("", words))
    return CODE.sub(lambda code: "`" + "\v" * code.group().count("\v"), text)


def comments(path, text):
    kind, line, at = language(path, text), 1, 0
    for token in TOKEN[kind].finditer(text) if kind else ():
        words = token.group()
        is_comment = words.startswith(("/*", "//", "#"))
        if not is_comment and words.startswith('"""'):
            is_comment = DOCSTRING.search(text, max(0, token.start() - 200), token.start()) is not None
        if is_comment:
            line += text.count("\n", at, token.start())
            at = token.start()
            yield line, plain(words)


def identifiers(path, text):
    kind, seen = language(path, text), set()
    if kind in (None, "shell"):
        return
    code = TOKEN[kind].sub(lambda token: " " + "\n" * token.group().count("\n"), text)
    for number, line in enumerate(code.split("\n"), 1):
        for name in NAME.findall(line):
            if name not in seen:
                seen.add(name)
                yield number, name


def words_of(name):
    """`seen_workers` and `seenWorkers` as "seen workers"."""
    return " ".join(part.lower() for part in PART.findall(name))
