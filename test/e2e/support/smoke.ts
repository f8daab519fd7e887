import { expect } from 'vitest'
import type { Service } from './service.ts'

/** Check that all parts of the service work, however it was packed. */
export async function expectWholeService(service: Service): Promise<void> {
  const { api, url } = service
  // The sign-in before has used a worker thread; these calls use the socket library, the database and the pages.
  expect(await api.get('/api/workloads')).toEqual([])
  expect((await api.get('/api/me')).email).toBe('admin@example.com')
  const page = await fetch(url)
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toContain('text/html')
  expect(await page.text()).toContain('<!doctype html>')
  const agent = await fetch(service.opampHttpUrl, { method: 'POST', body: new Uint8Array(0) })
  expect(agent.status).toBe(401)
}
