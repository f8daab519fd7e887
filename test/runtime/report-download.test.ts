import { expect, it } from 'vitest'
import { verifyPack } from '../../lib/reports/verify.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { seedReportFleet } from '../support/report-fleet.ts'
import { useTestService } from '../support/service.ts'

const database = await useTestDatabase()
await seedReportFleet(database.pool, { workloads: 40, pushes: 10, events: 30 }, '2026-07-01T00:00:00.000Z')
const service = await useTestService(database)
const as = await service.token()

const post = (path: string) =>
  fetch(`${service.url}/api/reports/evidence-pack${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${as}`,
      'content-type': 'application/json',
      origin: 'http://localhost:5173',
    },
    body: JSON.stringify({ scope: { group_id: 'checkout' } }),
  })

it('downloads a pack of many chunks whole, as JSON that can be verified', async () => {
  const response = await post('')
  const text = await response.text()
  expect(text.length).toBeGreaterThan(500_000)
  expect(verifyPack(text, null)).toMatchObject({ isIntact: true })
})

it('downloads the PDF byte for byte, with a file name that a page of another origin may read', async () => {
  const response = await post('/export?format=pdf')
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(response.headers.get('content-disposition')).toMatch(
    /^attachment; filename="evidence-pack-[0-9a-f]{12}\.pdf"$/,
  )
  expect(response.headers.get('access-control-expose-headers')).toContain('Content-Disposition')
  expect(bytes.subarray(0, 5).toString()).toBe('%PDF-')
  expect(bytes.subarray(-6).toString().trim()).toBe('%%EOF')
  const declared = /startxref\n(\d+)/.exec(bytes.toString('latin1'))![1]
  expect(bytes.subarray(Number(declared), Number(declared) + 4).toString()).toBe('xref')
})
