/**
 * The lines of a unified diff without its two heading lines: the page says what they name. Only the first two can be
 * headings: a line of a config may be written so that its diff looks like one, and must be seen.
 */
export const linesOfDiff = (diff: string): string[] => diff.replace(/^--- .*\n\+\+\+ .*\n/, '').split('\n')
