// An identity provider as a process of its own: `oidc-provider` with one client. The user that `POST /control` names is
// signed in without being asked anything, and what `POST /control` says is made wrong on purpose.
import { createServer } from 'node:http'

const { ISSUER, PORT, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, LOGOUT_URI, CLOCK_OFFSET_MS } = process.env

if (CLOCK_OFFSET_MS) {
  const RealDate = Date
  const offset = Number(CLOCK_OFFSET_MS)
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length === 0 ? [RealDate.now() + offset] : given))
    }
    static now() {
      return RealDate.now() + offset
    }
  }
}

const { Provider } = await import('oidc-provider')
const { calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair, importJWK, SignJWT } = await import(
  'jose'
)

const issuer = ISSUER || `http://127.0.0.1:${PORT}`
async function makeKey() {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = await exportJWK(privateKey)
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'RS256', use: 'sig' }
}
const first = await makeKey()

/** What `POST /control` sets. */
const told = {
  claims: { sub: 'nobody' },
  /** Claims of the ID token to replace before it is signed again; null for none. */
  forged: null,
  /** The key that signs and is published instead of the first; null for the first. */
  key: null,
  /** Sign with a key that is not published. */
  isUnpublished: false,
  isDenied: false,
}

const publicPart = ({ kty, n, e, kid, alg, use }) => ({ kty, n, e, kid, alg, use })
const sign = async (claims, key, header = {}) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header })
    .sign(await importJWK(key, 'RS256'))

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: CLIENT_ID,
      ...(CLIENT_SECRET ? { client_secret: CLIENT_SECRET } : { token_endpoint_auth_method: 'none' }),
      redirect_uris: [REDIRECT_URI],
      backchannel_logout_uri: LOGOUT_URI,
      backchannel_logout_session_required: true,
    },
  ],
  jwks: { keys: [first] },
  cookies: { keys: ['a test'] },
  conformIdTokenClaims: false,
  claims: {
    openid: ['sub'],
    profile: ['name', 'preferred_username'],
    email: ['email', 'email_verified'],
    groups: ['groups', 'roles', '_claim_names', 'hasgroups'],
  },
  findAccount: (_, accountId) => ({ accountId, claims: () => ({ ...told.claims, sub: accountId }) }),
  features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  // The provider's default would refuse to call loopback addresses.
  fetch: (url, options) => globalThis.fetch(url, { ...options, dispatcher: undefined }),
  ttl: { Session: 3600, Grant: 3600, Interaction: 600, AccessToken: 600, IdToken: 600 },
})

// With an https issuer the provider is behind a front, whose address comes in forwarded headers.
provider.proxy = issuer.startsWith('https:')

provider.on('backchannel.error', (_, error) => console.error(error))
provider.on('server_error', (_, error) => console.error(error))

provider.use(async (ctx, next) => {
  await next()
  if (ctx.path === '/jwks' && told.key) ctx.body = { keys: [publicPart(told.key)] }
  const isForged = told.forged || told.key || told.isUnpublished
  if (ctx.path === '/token' && ctx.body?.id_token && isForged) {
    const key = told.isUnpublished ? await makeKey() : (told.key ?? first)
    const claims = Object.entries({ ...decodeJwt(ctx.body.id_token), ...told.forged })
    const kept = claims.filter(([, value]) => value !== null)
    ctx.body = { ...ctx.body, id_token: await sign(Object.fromEntries(kept), key) }
  }
})

async function interact(request, response) {
  const { prompt, params } = await provider.interactionDetails(request, response)
  const finish = (result) =>
    provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true })
  if (told.isDenied) return finish({ error: 'access_denied', error_description: 'not today' })
  if (prompt.name === 'login') return finish({ login: { accountId: told.claims.sub } })
  const grant = new provider.Grant({ accountId: told.claims.sub, clientId: params.client_id })
  grant.addOIDCScope(params.scope)
  return finish({ consent: { grantId: await grant.save() } })
}

async function control(request, response) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const { rotate, sign: claims, header, ...change } = JSON.parse(Buffer.concat(chunks).toString())
  Object.assign(told, change)
  if (rotate) told.key = await makeKey()
  response.end(
    claims ? await sign(claims, told.isUnpublished ? await makeKey() : (told.key ?? first), header) : '',
  )
}

const handle = provider.callback()
const server = createServer((request, response) => {
  const done = request.url.startsWith('/interaction/')
    ? interact(request, response)
    : request.url === '/control'
      ? control(request, response)
      : handle(request, response)
  Promise.resolve(done).catch((error) => {
    console.error(error)
    response.statusCode = 500
    response.end(String(error))
  })
})
server.listen(Number(PORT), '127.0.0.1', () => process.send('ready'))
