import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { logInByBrowser } from '../../../runtime/cli/login/browser-login.ts'
import { eventually } from '../../support/eventually.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-login-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Sign in with a program in place of the browser; resolves with what it was to open, and what was printed, and the end. */
async function begin() {
  const shown = join(folder, 'address')
  const program = join(folder, 'browser')
  await writeFile(
    program,
    `#!/bin/sh\nprintf %s "$1" > '${shown}.part' && /bin/mv '${shown}.part' '${shown}'\n`,
  )
  await chmod(program, 0o755)
  let printed = ''
  const io = {
    env: { BROWSER: program },
    out: () => undefined,
    error(text: string) {
      printed += text
    },
    readInput: async () => Buffer.from(''),
    isTerminal: false,
  }
  const end = logInByBrowser('http://127.0.0.1:9', { opensBrowser: true, timeoutMs: 60_000 }, io).catch(
    (error: Error) => error.message,
  )
  const address = await eventually('a browser is opened', () => readFile(shown, 'utf8').catch(() => null))
  return { address, asked: /http:\S+/.exec(printed)![0], end }
}
const visit = (path: string) => fetch(path, { redirect: 'manual' })

// Everybody on a machine sees the arguments of everybody's processes.
it('gives the browser an address that leads to the question once, and says nothing about it', async () => {
  const { address, asked, end } = await begin()
  const { state, challenge, port } = Object.fromEntries(new URL(asked).searchParams) as Record<string, string>
  expect(address).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${port}/[\\w-]{43}$`))
  for (const secret of [state, challenge]) expect(address).not.toContain(secret)
  const first = await visit(address)
  expect([first.status, first.headers.get('location')]).toEqual([303, asked])
  expect((await visit(`http://127.0.0.1:${port}/`)).status).toBe(400)
  expect(
    (await visit(`http://127.0.0.1:${port}/?${new URLSearchParams({ error: 'denied', state: state! })}`))
      .status,
  ).toBe(303)
  expect(await end).toBe('the sign-in was refused in the browser')
})

it('says why it ends, and what to do, where something else opens that address as well', async () => {
  const { address, end } = await begin()
  await visit(address)
  expect((await visit(address)).headers.get('location')).toBe('http://127.0.0.1:9/command-line?end=failed')
  expect(await end).toContain('was opened twice')
  expect(await end).toContain('--no-browser')
})
