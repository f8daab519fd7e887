import type { CLIENT_AUTHS } from '../../wire/values.ts'

/** One identity provider, as the configuration names it. */
export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string
  clientAuth: (typeof CLIENT_AUTHS)[number]
  /** Separated by blanks; `openid` is among them. */
  scopes: string
  /** A claim's name, or a JSON pointer into the claims. */
  groupsClaim: string
  /** Our groups by the name of a group of the provider; null where administrators assign groups. */
  groupMap: ReadonlyMap<string, readonly string[]> | null
  /** The name on the sign-in button. */
  name: string
  /** How long a session lasts after a sign-in with the provider. */
  sessionMs: number
  /** The address of muster for browsers, without a slash at the end. */
  publicUrl: string
  /** The address that the provider sends browsers back to. */
  callbackUrl: string
}
