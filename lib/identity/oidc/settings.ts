/** One identity provider, as the configuration names it. */
export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string
  clientAuth: 'basic' | 'post' | 'none'
  /** Separated by blanks; `openid` is among them. */
  scopes: string
  /** A claim's name, or a JSON pointer into the claims. */
  groupsClaim: string
  /** Their groups to ours; null where administrators assign groups. */
  groupMap: ReadonlyMap<string, readonly string[]> | null
  /** What the button says. */
  name: string
  sessionMs: number
  /** Where browsers find muster, without a slash at the end. */
  publicUrl: string
  /** Where the provider sends them back to. */
  callbackUrl: string
}
