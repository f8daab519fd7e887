import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { signIn, visit } from './support/browser.ts'
import { connect } from './support/fleet.ts'
import { TEST_ADMIN } from './support/service.ts'
import { browser, service, useStage } from './support/stage.ts'

useStage({ pages: 'none' })

describe('signing in', () => {
  test('with the keyboard alone, and back to where one wanted to go', async () => {
    const { page, context } = await visit(browser, service.url)
    await page.goto('/alerts')
    await page.getByLabel('E-mail').waitFor()
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('email')
    await page.keyboard.type(TEST_ADMIN.email)
    await page.keyboard.press('Tab')
    await page.keyboard.type(TEST_ADMIN.password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/alerts')
    await context.close()
  })

  test('a wrong password, too many attempts and a server that is away are three different texts', async () => {
    const { page, context } = await visit(browser, service.url)
    await page.goto('/')
    const attempt = async (password: string) => {
      await page.getByLabel('E-mail').fill('nobody@example.com')
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    await attempt('not the password')
    await page.getByText('This e-mail and password do not fit together.').waitFor()
    for (let left = 4; left > 0; left--) {
      const answered = page.waitForResponse('**/api/auth/login')
      await attempt(`not the password ${left}`)
      await answered
    }
    await attempt('not the password either')
    await page.getByText(/Too many attempts\. Try again in \d+ s\./).waitFor()
    await context.setOffline(true)
    await attempt('whatever it may be')
    await page.getByText('The server does not answer. Nothing was checked').waitFor()
    await context.close()
  })

  test('signing out ends the session, and an ended session asks to sign in again', async () => {
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.locator('header summary').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('E-mail').waitFor()
    await signIn(page)
    // The session is ended by another request; the page learns it by its open socket.
    await page.evaluate(() => fetch('/api/auth/logout', { method: 'POST' }))
    await page.getByText('Your session has ended.').waitFor()
    await context.close()
  })
})

describe('the live connection', () => {
  test('is lost and comes back, and what changed meanwhile is there', async () => {
    const agent = connect(service, 'returning', 'returning-1')
    const { page, context } = await visit(browser, service.url)
    await signIn(page)
    await page.getByRole('link', { name: 'returning' }).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    const restarted = service.restart()
    await page.getByText(/^stale since/).waitFor()
    await restarted
    const newcomer = connect(service, 'newcomer', 'newcomer-1')
    await page.getByText('live', { exact: true }).waitFor({ timeout: 30_000 })
    await page.getByRole('link', { name: 'newcomer' }).waitFor()
    await eventually('the agent is back', async () => agent.isConnected())
    await Promise.all([agent.stop(), newcomer.stop()])
    await context.close()
  })
})
