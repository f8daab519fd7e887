/** Whether a page in a browser asks. Agents are no browsers, and no page can leave out its `Origin`. */
export const isFromBrowser = (header: (name: string) => string): boolean => header('origin') !== ''

/** Without this any page, open in a browser on the network of the listener, could pass for an agent. */
export const NO_BROWSERS = {
  status: 403,
  headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  body: 'Agents only: a request with an Origin comes from a browser\n',
} as const
