import { showHiddenSigns } from '../../../lib/model/hidden-signs.ts'

/**
 * The lines of a unified diff without its two heading lines: the page says what they name. Only the first two can be
 * headings: a line of a config may be written so that its diff looks like one, and must be seen. Signs that nobody sees are
 * written out.
 */
export const linesOfDiff = (diff: string): string[] =>
  showHiddenSigns(diff.replace(/^--- .*\n\+\+\+ .*\n/, '')).split('\n')
