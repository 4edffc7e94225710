// How wide a text of a chart will be before it is drawn, and what of it fits. The one place where a chart cuts words.

const LETTER = 6.2; // px at 11 px
const CJK = 2; // a Chinese letter is as wide as the line is high

/** In px, at 11 px or with letters of the given width. */
export const textWidth = (text: string, letter = LETTER): number =>
  [...text].reduce((w, c) => w + (c > "\u2e7f" ? CJK * letter - 0.2 : letter), 0);

/** As much of a text as fits into `room` px, with dots where it was cut; nothing where less than two letters would be left. */
export function cutEnd(text: string, room: number, letter = LETTER): string {
  if (textWidth(text, letter) <= room) return text;
  const letters = [...text];
  let left = room - letter; // of the dots
  let n = 0;
  while (n < letters.length) {
    left -= textWidth(letters[n] as string, letter);
    if (left < 0) break;
    n++;
  }
  return n < 2 ? "" : `${letters.slice(0, n).join("").trimEnd()}…`;
}
