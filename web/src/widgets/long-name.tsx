// A name that uses the width there is. Where there is not enough, its middle goes: the ends of names differ.

const TAIL = 18; // letters that always stay

/** What is in an element of class `ends`. */
export const Ends = ({ text }: { text: string }) => (
  <>
    {text.length > TAIL + 8 ? <span>{text.slice(0, -TAIL)}</span> : null}
    <span>{text.length > TAIL + 8 ? text.slice(-TAIL) : text}</span>
  </>
);

export function LongName({ text }: { text: string }) {
  if (text.length <= TAIL + 8) return <code>{text}</code>;
  return (
    <code class="ends">
      <Ends text={text} />
    </code>
  );
}
