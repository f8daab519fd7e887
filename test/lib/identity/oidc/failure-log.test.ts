import { describe, expect, it } from 'vitest'
import { failureLog } from '../../../../lib/identity/oidc/failure-log.ts'
import { openProvider } from '../../../../lib/identity/oidc/provider.ts'
import { fakeClock, recordingLog } from '../../../support/fakes.ts'
import { settingsFor } from '../../../support/oidc/provider.ts'

it('says once in ten seconds of each code why sign-ins fail, and how many did', () => {
  const clock = fakeClock()
  const log = recordingLog()
  const note = failureLog({ log, clock }, 'the identity provider could not be asked')
  const away = new Error('connection refused')
  for (let n = 0; n < 3_000; n++) note('provider-away', away)
  clock.advance(9_999)
  note('provider-away', away)
  const told = (err: Error) => expect.objectContaining({ type: 'Error', message: err.message })
  expect(log.lines.map(({ fields }) => fields)).toEqual([
    { err: told(away), code: 'provider-away', count: 1 },
  ])
  const other = new Error('another answer')
  note('provider-refused', other)
  clock.advance(1)
  note('provider-away', away)
  expect(log.lines.slice(1)).toEqual([
    {
      level: 'warn',
      message: 'the identity provider could not be asked',
      fields: { err: told(other), code: 'provider-refused', count: 1 },
    },
    {
      level: 'warn',
      message: 'the identity provider could not be asked',
      fields: { err: told(away), code: 'provider-away', count: 3_001 },
    },
  ])
})

describe('a line of the log about a sign-in that failed', () => {
  const ISSUER = 'https://id.example.com'
  const FLOW = { state: 'the-state', nonce: 'the-nonce', verifier: 'v'.repeat(43) }
  const METADATA = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/auth`,
    token_endpoint: `${ISSUER}/token`,
    jwks_uri: `${ISSUER}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  }
  /** What is logged of a callback with this query, where the provider's token endpoint answers so. */
  async function logged(query: string, answer: () => Response) {
    const clock = fakeClock()
    const log = recordingLog()
    const provider = openProvider(settingsFor(ISSUER, 'https://muster.example'), clock, async (url) =>
      url.includes('.well-known') ? Response.json(METADATA) : answer(),
    )
    const outcome = await provider.finish(`state=${FLOW.state}&${query}`, FLOW)
    if (outcome.ok) throw new Error('nobody is signed in by this')
    failureLog({ log, clock }, 'sign-in with the identity provider failed')(outcome.code, outcome.cause)
    return log.lines[0]!.fields as { err: Record<string, unknown> }
  }
  const never = () => Response.json({}, { status: 404 })

  it('has little of what the provider answers, and nothing of what it echoes', async () => {
    const said = { error: 'invalid_grant'.padEnd(3_000, '!'), error_description: 'd'.repeat(3_000) }
    const body = { ...said, echo: { client_secret: 'the secret', code: 'abc' }, more: 'm'.repeat(100_000) }
    const { err } = await logged('code=abc', () => Response.json(body, { status: 400 }))
    expect(err).toEqual({
      type: 'ResponseBodyError',
      message: 'server responded with an error in the response body',
      code: 'OAUTH_RESPONSE_BODY_ERROR',
      status: 400,
      error: said.error.slice(0, 100),
      error_description: said.error_description.slice(0, 200),
    })
  })

  it('has little of what a stranger writes into the address of a callback', async () => {
    const { err } = await logged(`error=${'e'.repeat(9_000)}&error_description=${'x'.repeat(9_000)}`, never)
    expect(err).toMatchObject({ type: 'AuthorizationResponseError', error: 'e'.repeat(100) })
    expect(JSON.stringify(err).length).toBeLessThan(1_000)
  })

  it('has nothing of an answer that cannot be read, and says what it was', async () => {
    const text = '{"access_token": "the secret of the answer", '
    const headers = { 'Content-Type': 'application/json' }
    const { err } = await logged('code=abc', () => new Response(text, { headers }))
    expect(JSON.stringify(err)).not.toContain('secret')
    expect(err).toMatchObject({ type: 'ClientError', code: 'OAUTH_PARSE_ERROR' })
    const refused = await logged('code=abc', () => new Response('the secret page', { status: 502 }))
    expect(refused.err).toMatchObject({ type: 'ClientError', status: 502 })
  })

  it('says why nothing came', async () => {
    const { err } = await logged('code=abc', () => {
      const cause = Object.assign(new Error('connect ECONNREFUSED 192.0.2.1:443'), { code: 'ECONNREFUSED' })
      throw new TypeError('fetch failed', { cause })
    })
    expect(err).toMatchObject({
      type: 'TypeError',
      message: 'fetch failed',
      cause: { type: 'Error', code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 192.0.2.1:443' },
    })
    expect(err['stack']).toContain('fetch failed')
  })
})
