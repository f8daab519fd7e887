/**
 * Build the browser UI into a folder. Returns the gzipped bytes of the first load; throws when they are over the
 * budget.
 */
export function buildUi(outdir: string): Promise<{ scriptBytes: number; styleBytes: number }>
