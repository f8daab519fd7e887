import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { findBarriers, pasteInto } from './support/browser.ts'
import { GATEWAY, GATEWAY_FASTER } from './support/scene.ts'
import { connectAgent, page, seen, service, useStage } from './support/stage.ts'

useStage({
  pages: 'each',
  async prepare() {
    connectAgent('east', 'east-1', { initialConfig: GATEWAY, behaviour: { kind: 'apply', delayMs: 100 } })
    await eventually('it reports what it runs', async () => {
      const groups = (await service.api.get('/api/adopt')) as { reported_config_hash?: string }[]
      return groups.some((group) => group.reported_config_hash !== undefined)
    })
  },
})

test('what runs already is compared with its text and taken over by a campaign', async () => {
  await page.getByRole('link', { name: 'Adopt…' }).click()
  await page.getByRole('heading', { name: 'Adopt', level: 1 }).waitFor()
  await page.getByRole('cell', { name: /^east( · |$)/ }).waitFor()
  await page.getByRole('link', { name: 'Take over…' }).click()
  await page.getByText('1 workload: 1 instance takes the text and restarts.').waitFor()
  await page.getByText('There is nothing to go back to').waitFor()
  const editor = page.getByRole('textbox', { name: 'The text that it is made of' })
  const make = page.getByRole('button', { name: 'Make the campaign' })
  await pasteInto(page, editor, GATEWAY_FASTER)
  await expect.poll(() => make.getAttribute('title')).toBe('Compare the text with what they report first.')
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByText('What they report differs from this text at 1 place').waitFor()
  await pasteInto(page, editor, GATEWAY)
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByText('What they report holds everything that this text asks for.').waitFor()
  await expect.poll(() => findBarriers(page)).toEqual([])
  await page.setViewportSize({ width: 320, height: 800 })
  await expect
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth))
    .toBe(0)
  await page.getByLabel('Name of the campaign').fill('Bring it under management')
  await make.click()
  await page.getByRole('heading', { name: 'Bring it under management', level: 1 }).waitFor()
  const [campaign] = (await service.api.get('/api/campaigns')) as { id: string }[]
  await eventually('it is planned', async () => {
    const { plan } = await service.api.get(`/api/campaigns/${campaign!.id}`)
    return plan?.target_count === 1 && plan.no_way_back_count === 1
  })
  expect(seen.complaints).toEqual([])
})
