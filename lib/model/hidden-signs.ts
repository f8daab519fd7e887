/** Signs that are not seen but change how a line reads: they turn its direction, join or hide what stands beside them. */
const HIDDEN = /\p{Cf}/gu

/** Whether a text has signs in it that are not seen. */
export const hasHiddenSigns = (text: string): boolean => text.search(HIDDEN) >= 0

/** The text with each such sign written out, as in `\u{202e}`: whoever approves a line is to read the line that runs. */
export const showHiddenSigns = (text: string): string =>
  text.replace(HIDDEN, (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`)
