import type { Refusal } from '../../lib/identity/oidc/oidc.ts'
import { FLOW_LIFETIME_S, REFUSAL_LIFETIME_S } from '../../lib/identity/oidc/oidc.ts'
import type { Context } from '../../runtime/context.ts'
import { problem, type Reply } from '../../runtime/reply.ts'

const PATH = '/api/auth/oidc'
/** What a browser keeps while it is at the provider. */
export const FLOW_COOKIE = 'muster_sign_in'
/** Why a browser came back without a session. */
export const REFUSAL_COOKIE = 'muster_sign_in_refusal'

const cookie = (name: string, value: string, maxAgeS: number, publicUrl: string) =>
  `${name}=${value}; Path=${PATH}; Max-Age=${maxAgeS}; HttpOnly; ${publicUrl.startsWith('https:') ? 'Secure; ' : ''}SameSite=Lax`

/** Keep a flow in the browser; an empty one takes it away. */
export const flowCookie = (kept: string, publicUrl: string) =>
  cookie(FLOW_COOKIE, kept, kept === '' ? 0 : FLOW_LIFETIME_S, publicUrl)

/** Keep a refusal in the browser; an empty one takes it away. */
export const refusalCookie = (sealed: string, publicUrl: string) =>
  cookie(REFUSAL_COOKIE, sealed, sealed === '' ? 0 : REFUSAL_LIFETIME_S, publicUrl)

/** Redirect the browser; the reply must not be cached. */
export function goTo(location: string, cookies: readonly string[]): Reply {
  return { status: 302, headers: { Location: location, 'Cache-Control': 'no-store' }, cookies, body: null }
}

/** Redirect to the sign-in page, which then asks for the reason (`refusal.ts`). */
export async function goToRefusal(ctx: Context, refusal: Refusal): Promise<Reply> {
  const { oidc } = ctx.identity
  if (oidc === null) return problem('not-found')
  const { publicUrl } = oidc.settings
  const sealed = await oidc.sealRefusal(refusal)
  return goTo('/login?sso=refused', [flowCookie('', publicUrl), refusalCookie(sealed, publicUrl)])
}
