import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { Api } from '../support/service.ts'
import { findBarriers, SHOTS, signIn, visit } from './support/browser.ts'
import { workloadId } from './support/scene.ts'
import { SHARED_SECRET } from './support/service.ts'
import { browser, connectAgent, service, useStage } from './support/stage.ts'

useStage({ pages: 'none' })

test('from the fleet’s page one learns how to connect a collector, and sees it come, among others that come and go', async () => {
  const uid = new Uint8Array(randomBytes(16))
  const regular = connectAgent('payments', 'payments-1', { uid })
  await workloadId(service, 'payments')
  const { page, context, complaints } = await visit(browser, service.url)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await signIn(page)
  await page.getByRole('link', { name: 'payments' }).waitFor()
  await page.getByRole('button', { name: 'Connect a collector' }).click()
  const dialog = page.getByRole('dialog', { name: 'Connect a collector' })
  const file = dialog.getByRole('region', { name: 'The file' })
  await dialog.getByText('Waiting for a new connection…').waitFor()

  // The address is the one of this service; the credential comes only when it is asked for, and is noted.
  await expect.poll(() => file.textContent()).toContain(service.opampUrl)
  await expect.poll(() => file.textContent()).not.toContain(SHARED_SECRET)
  await dialog.getByRole('button', { name: 'Fill in the credential' }).click()
  await expect.poll(() => file.textContent()).toContain(`Bearer ${SHARED_SECRET}`)
  for (const way of ['Kubernetes', 'Windows', 'OpAMP extension']) {
    await dialog.getByRole('radio', { name: way }).check()
    await expect.poll(() => file.textContent()).toContain(SHARED_SECRET)
  }
  await dialog.getByLabel('Address of this service').fill('wss://agents.example.com/v1/opamp')
  await dialog.getByRole('button', { name: 'Copy' }).click()
  const copied = parse(await page.evaluate(() => navigator.clipboard.readText()))
  expect(copied.extensions.opamp.server.ws).toEqual({
    endpoint: 'wss://agents.example.com/v1/opamp',
    headers: { Authorization: `Bearer ${SHARED_SECRET}` },
  })
  expect(await findBarriers(page)).toEqual([])

  // One that was there and only comes back is not the one that is waited for.
  const told: string[] = []
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => told.push(String(payload))))
  await page.reload()
  await page.getByRole('link', { name: 'payments' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('connect a coll')
  await page.keyboard.press('Enter')
  await dialog.getByText('Waiting for a new connection…').waitFor()
  await regular.stop()
  const heard = (type: string) =>
    expect.poll(() => told.some((frame) => frame.includes(`"event_type":"${type}"`)), { timeout: 15_000 })
  await heard('disconnected').toBe(true)
  connectAgent('payments', 'payments-1', { uid })
  await heard('connected').toBe(true)
  await dialog.getByText('Waiting for a new connection…').waitFor()

  // A further instance of a workload that is known counts, and so does a new workload.
  connectAgent('payments', 'payments-2')
  await dialog.getByText('payments-2 has connected:').waitFor()
  await dialog.getByRole('button', { name: 'Wait for another one' }).click()
  await dialog.getByText('Waiting for a new connection…').waitFor()
  connectAgent('orders', 'orders-1')
  await dialog.getByText('orders-1 has connected:').waitFor()
  await dialog.getByRole('link', { name: 'orders' }).click()
  await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/workloads\/\w+\/instances$/)
  await expect.poll(() => dialog.count()).toBe(0)
  await page.getByText('orders-1').first().waitFor()
  expect(complaints).toEqual([])
  await context.close()

  const seen = (await service.api.get('/api/audit/events?action=opamp.credential_shown')) as {
    events: { email: string }[]
  }
  expect(seen.events.map(({ email }) => email)).toEqual(['admin@example.com'])
})

test('who does not manage the settings gets no credential, is told whom to ask, and reads it in French', async () => {
  const who = { email: 'vera@example.com', password: 'long enough to pass' }
  await service.api.post('/api/users', { ...who, groups: ['viewer'] }, 201)
  const api = new Api(service.url)
  await api.login(who)
  expect((await api.call('PUT', '/api/me/preferences', { theme: 'dark', language: 'fr' })).status).toBe(200)
  const { page, context, complaints } = await visit(browser, service.url, { width: 390 })
  await signIn(page, who)
  await page.getByRole('button', { name: 'Connecter un collecteur' }).click()
  const dialog = page.getByRole('dialog', { name: 'Connecter un collecteur' })
  await dialog.getByText('Demandez-le à qui gère les réglages', { exact: false }).waitFor()
  await expect.poll(() => dialog.getByRole('button', { name: 'Remplir le secret' }).count()).toBe(0)
  await expect
    .poll(() => dialog.getByRole('region').textContent())
    .toContain(`Bearer \${env:OPAMP_SHARED_SECRET}`)
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  await page.screenshot({ path: join(SHOTS, 'connect-390-dark-fr.png') })
  expect(await findBarriers(page)).toEqual([])
  expect(complaints).toEqual([])
  await context.close()
})
