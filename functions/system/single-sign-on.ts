import type { OidcSettings } from '../../lib/identity/oidc/settings.ts'
import { findGroups } from '../../lib/store/groups.ts'
import { SingleSignOn } from '../../lib/wire/system.ts'
import type { Context } from '../../runtime/context.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import backchannelLogout from '../oidc/backchannel-logout.ts'
import callback from '../oidc/callback.ts'

const HOUR_MS = 3_600_000

/** The path that a function answers at. */
const pathOf = ({ route }: { route: string }): string => route.slice(route.indexOf(' ') + 1)

/** Which groups here each group of the provider gives, and which of these nobody has made. */
async function listMapped({ db }: Pick<Context, 'db'>, map: NonNullable<OidcSettings['groupMap']>) {
  const known = new Set((await findGroups(db, [...map.values()].flat())).map(({ name }) => name))
  return [...map].map(([theirs, ours]) => ({
    theirs,
    ours: [...ours],
    missing: ours.filter((name) => !known.has(name)),
  }))
}

/** Whether and how people sign in with an identity provider, for whoever sets it up. */
export default defineHttp({
  route: 'GET /api/system/single-sign-on',
  summary: 'How people sign in with an identity provider, as it is configured, without secrets.',
  access: signedIn('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The configuration.', json: SingleSignOn }],
  errors: [],
  async handle(_, ctx) {
    const { oidc, publicUrl, onlyPasswordLogin } = ctx.config
    const found: SingleSignOn = {
      ...(oidc === null
        ? {}
        : {
            provider: {
              name: oidc.name,
              issuer: oidc.issuer,
              client_id: oidc.clientId,
              client_auth: oidc.clientAuth,
              scopes: oidc.scopes,
              groups_claim: oidc.groupsClaim,
              session_hours: oidc.sessionMs / HOUR_MS,
            },
          }),
      ...(oidc === null || oidc.groupMap === null ? {} : { groups: await listMapped(ctx, oidc.groupMap) }),
      ...(publicUrl === ''
        ? {}
        : {
            redirect_uri: `${publicUrl}${pathOf(callback)}`,
            logout_uri: `${publicUrl}${pathOf(backchannelLogout)}`,
          }),
      ...(onlyPasswordLogin === null ? {} : { only_password_login: onlyPasswordLogin }),
    }
    return json(found)
  },
})
