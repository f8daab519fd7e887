/** The repository's top folder. */
export const ROOT: string

/** Bundle every worker thread into `folder`, for code that runs from a checkout. */
export function bundleWorkersForCheckout(folder: string): Promise<void>
