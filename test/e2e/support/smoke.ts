import { expect } from 'vitest'
import type { Service } from './service.ts'

/** What shows that a whole service is there, however it was packed. */
export async function expectWholeService(service: Service): Promise<void> {
  const { api, url } = service
  // Signing in went through a worker thread; the rest is the socket library, the database and the pages.
  expect(await api.get('/api/workloads')).toEqual([])
  expect((await api.get('/api/me')).email).toBe('admin@example.com')
  const page = await fetch(url)
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toContain('text/html')
  expect(await page.text()).toContain('<!doctype html>')
  const agent = await fetch(service.opampHttpUrl, { method: 'POST', body: new Uint8Array(0) })
  expect(agent.status).toBe(401)
}
