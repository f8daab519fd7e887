import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from '../e2e/support/service.ts'

let service: Service

beforeAll(async () => {
  // As behind a proxy, so that each login can come from an address of its own.
  service = await startService({ env: { MUSTER_TRUSTED_PROXIES: '127.0.0.1' } })
})
afterAll(() => service.stop())

function residentMib(): number {
  const text = readFileSync(`/proc/${service.process().pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(text)![1]) / 1024
}

async function logIn(email: string, address: string): Promise<number> {
  const response = await fetch(`${service.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify({ email, password: 'wrong horse battery' }),
  })
  await response.arrayBuffer()
  return response.status
}

const WIDE = '\u20ac'.repeat(255_000)
const addressOf = (n: number) => `10.0.${n >> 8}.${n & 255}`

test('400 failed logins from 400 addresses with the longest e-mails leave nothing in memory', async () => {
  // The memory that the first logins take stays taken and is no leak: threads, buffers, compiled code.
  for (let n = 0; n < 20; n++) await logIn(`${n}${WIDE}@example.com`, addressOf(1_000 + n))
  const before = residentMib()
  for (let n = 0; n < 400; n++) {
    expect(await logIn(`${n}${WIDE}@example.com`, addressOf(n))).toBe(413)
    expect(await logIn(`${n}${WIDE.slice(0, 300)}@example.com`, addressOf(n))).toBe(400)
  }
  expect(residentMib() - before).toBeLessThan(100)
  expect(await logIn('somebody@example.com', addressOf(0))).toBe(401)
  await service.api.login()
})
