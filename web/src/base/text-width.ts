// How wide a text of an axis or a bar will be, before it is drawn.

/** In px, at 11 px; Chinese letters are as wide as the line is high. */
export const textWidth = (text: string): number => [...text].reduce((w, letter) => w + (letter > "\u2e7f" ? 12.2 : 6.2), 0);
