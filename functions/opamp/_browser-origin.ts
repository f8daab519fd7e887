/** Whether a request comes from a page in a browser: agents send no `Origin`, and no page can leave it out. */
export const isFromBrowser = (header: (name: string) => string): boolean => header('origin') !== ''

/**
 * The refusal of browsers. Without it, any page that is open in a browser on the network of the listener could pass for
 * an agent.
 */
export const NO_BROWSERS = {
  status: 403,
  headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  body: 'Agents only: a request with an Origin comes from a browser\n',
} as const
