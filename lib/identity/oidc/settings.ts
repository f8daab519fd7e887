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

/** Why an issuer that stands for the tenants of everybody is none: each of its tokens names another one. */
export const MANY_TENANTS = 'it stands for every tenant, and OIDC_ISSUER has to name one'

/** Whether an issuer stands for the tenants of everybody, as Entra's `common` and `organizations` do. */
export function isForManyTenants(issuer: string): boolean {
  if (issuer.includes('{tenantid}') || issuer.includes('%7Btenantid%7D')) return true
  const { hostname, pathname } = new URL(issuer)
  return (
    hostname === 'login.microsoftonline.com' && /^\/(common|organizations|consumers)(\/|$)/i.test(pathname)
  )
}
