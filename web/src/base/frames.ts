// Frames of call stacks: `file(line): function`.

export interface Frame {
  file: string;
  line: number;
  name: string;
}

const FRAME = /^(.+?\.\w+)\((\d+)\): (.+)$/;

export function parseFrame(text: string): Frame | undefined {
  const [, file, line, name] = text.match(FRAME) ?? [];
  return file && line && name ? { file, line: Number(line), name } : undefined;
}

const IN_SENTENCE = /(?<![\w/.-])((?:[\w.-]+\/|\/)*[\w.-]+\.(?:pyx?|pyi|cpp|cc|cu|cuh|jl)):(\d+)(?!\d)/;

/** The first line of code that a sentence names: `train.py:88`. */
export function lineIn(text: string): { file: string; line: number } | undefined {
  const [, file, line] = text.match(IN_SENTENCE) ?? [];
  return file && line ? { file, line: Number(line) } : undefined;
}

/** A function of the interpreter: no line of source code stands for it. */
export const isBuiltIn = (text: string): boolean => /^<built-in /.test(text);

const isAbsolute = (file: string): boolean => /^(\/|[A-Za-z]:[\\/])/.test(file);

/** A relative path in the folder it belongs to; what is absolute stays. */
export const inRoot = (file: string, root: string): string =>
  !root || isAbsolute(file) ? file : `${root.replace(/\/+$/, "")}/${file.replace(/^\.\//, "")}`;
