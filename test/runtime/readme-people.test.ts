import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { selfSignedCertificate } from '../support/certificates.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { runReadmeCommands } from '../support/readme-commands.ts'
import { startTestService, type TestService } from '../support/service.ts'

const database = await useTestDatabase()
const fromRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
// A program that runs `muster` from the sources, without a build.
const MUSTER = `#!/bin/sh\nexec node '${fromRoot('runtime/build/run.mjs')}' '${fromRoot('runtime/main.ts')}' "$@"\n`
const EMAIL = 'admin@example.com'
const PASSWORD = 'correct horse battery'
let running: TestService
beforeAll(async () => {
  running = await startTestService(database, { seedAdmin: { email: EMAIL, password: PASSWORD } })
})
afterAll(() => running.stop())

it('the README makes a token for a machine, and the machine reads the fleet with it', async () => {
  const UNTIL = new Date(Date.now() + 90 * 86_400_000).toISOString()
  const printed = await runReadmeCommands('token', { MUSTER_URL: running.url, EMAIL, PASSWORD, UNTIL })
  expect(JSON.parse(printed)).toEqual([])
  const [used] = await database.pool.query('select name, last_used_at from api_tokens')
  expect(used).toEqual({ name: 'ci', last_used_at: expect.any(Date) })
})

it('the README changes the approval policy', async () => {
  const SESSION = await running.token()
  const printed = await runReadmeCommands('approval-policy', { MUSTER_URL: running.url, SESSION })
  expect(JSON.parse(printed)).toMatchObject({ production: { approvals: 2, valid_hours: 72 } })
})

it('the README makes a group with a role within a scope', async () => {
  const SESSION = await running.token()
  const printed = await runReadmeCommands('scope', { MUSTER_URL: running.url, SESSION })
  expect(printed).toContain('"name":"staging-editors"')
  const rows = await database.pool.query('select role, scope from groups where not is_system')
  expect(rows).toEqual([{ role: 'editor', scope: { key: 'muster/env', values: ['dev', 'staging'] } }])
})

it.each([
  ['oidc', 'an identity provider', 'oidc-secret', 'a secret\n'],
  ['proxy', 'a proxy and an authority', 'company-ca.pem', selfSignedCertificate(['proxy.example.com']).cert],
] as const)(
  'the README (%s) tells muster of %s, and muster understands',
  async (snippet, _of, file, content) => {
    const folder = await mkdtemp(join(tmpdir(), `readme-${snippet}-`))
    try {
      await writeFile(join(folder, file), content)
      await writeFile(join(folder, 'muster'), MUSTER)
      await chmod(join(folder, 'muster'), 0o755)
      const PATH = `${folder}:${process.env['PATH']}`
      const environment = { PATH, JWT_SECRET: 'x'.repeat(40), DB_DSN: database.dsn }
      const said = await runReadmeCommands(snippet, environment, folder)
      expect(said).toBe('The configuration is usable and the database answers.\n')
    } finally {
      await rm(folder, { recursive: true })
    }
  },
  // The sources are bundled first.
  60_000,
)

it('every block of shell commands in the README is run by a test', async () => {
  const readme = await readFile(fromRoot('README.md'), 'utf8')
  const blocks = [...readme.matchAll(/(?:<!-- commands: (\S+) -->\s*)?^ *```sh\n([\s\S]*?)```/gm)]
  // The first block of all is what the tests of the quick start do.
  expect(blocks.filter(([, name]) => name === undefined).map(([, , text]) => text)).toEqual([
    'npm install\nnpm start\n',
  ])
  const files = (await readdir(fromRoot('test'), { recursive: true })).filter((file) =>
    file.endsWith('.test.ts'),
  )
  const texts = await Promise.all(files.map((file) => readFile(fromRoot(join('test', file)), 'utf8')))
  const running = texts.filter((text) => /runReadmeCommands|readReadmeBlock/.test(text)).join('')
  const names = blocks.flatMap(([, name]) => (name === undefined ? [] : [name]))
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name) => !running.includes(`'${name}'`))).toEqual([])
})
