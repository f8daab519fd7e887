import { describe, expect, it } from 'vitest'
import { useTestDatabase } from '../support/postgres.ts'
import { startTestService, type TestService } from '../support/service.ts'

const database = await useTestDatabase()
const PASSWORD = 'correct horse battery'

const namesProxies = (line: unknown) => JSON.stringify(line).includes('MUSTER_TRUSTED_PROXIES')

/** Run `work` against a service whose public address and proxies are these. */
async function withService(
  config: { publicUrl: string; trustedProxies?: string[] },
  work: (service: TestService, email: string) => Promise<void>,
): Promise<void> {
  const service = await startTestService(database, config)
  try {
    const email = `${crypto.randomUUID()}@example.com`
    const body = { email, password: PASSWORD, groups: ['viewer'] }
    expect((await service.call('POST', '/api/users', { as: await service.token(), body })).status).toBe(201)
    await work(service, email)
  } finally {
    await service.stop()
  }
}

describe('a service whose public address is https', () => {
  it('gives Secure cookies and HSTS although no proxy is trusted to say so, and warns at the start', () =>
    withService({ publicUrl: 'https://muster.example.com' }, async (service, email) => {
      const { headers } = await service.call('POST', '/api/auth/login', {
        body: { email, password: PASSWORD },
      })
      expect(headers.getSetCookie().join()).toMatch(/^om_session=.*; Secure;/)
      expect(headers.get('strict-transport-security')).toMatch(/^max-age=/)
      const out = await service.call('POST', '/api/auth/logout')
      expect(out.headers.getSetCookie().join()).toContain('Secure')
      for (const path of ['/healthz', '/login', '/api/none'])
        expect(
          (await service.call('GET', path)).headers.get('strict-transport-security'),
          path,
        ).not.toBeNull()
      expect(service.log.lines.filter(namesProxies)).toMatchObject([{ level: 'warn' }])
    }))

  it('does so as well where a trusted proxy says nothing, or http', () =>
    withService(
      { publicUrl: 'https://muster.example.com', trustedProxies: ['127.0.0.1'] },
      async (service, email) => {
        const body = { email, password: PASSWORD }
        for (const headers of [{}, { 'x-forwarded-proto': 'http' }] as Record<string, string>[]) {
          const answer = await service.call('POST', '/api/auth/login', { body, headers })
          expect(answer.headers.getSetCookie().join()).toContain('Secure')
        }
        expect(service.log.lines.filter(namesProxies)).toEqual([])
      },
    ))
})

describe('a service whose public address is http, or not known', () => {
  it.each(['', 'http://127.0.0.1:8080'])('gives cookies that plain http sends back: %s', (publicUrl) =>
    withService({ publicUrl }, async (service, email) => {
      const { headers } = await service.call('POST', '/api/auth/login', {
        body: { email, password: PASSWORD },
      })
      expect(headers.getSetCookie().join()).not.toContain('Secure')
      expect(headers.get('strict-transport-security')).toBeNull()
      expect(service.log.lines.filter(namesProxies)).toEqual([])
    }),
  )
})
