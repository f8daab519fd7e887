import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, test } from 'vitest'
import { silentLog } from '../../lib/log.ts'
import { parseCommandLine } from '../../runtime/command-line.ts'
import type { OneShotCommand } from '../../runtime/commands.ts'
import { runCommand } from '../../runtime/commands.ts'
import { locateRuntimeFiles } from '../../runtime/files.ts'
import { certificateInFiles, writeCertificate } from '../support/certificate-files.ts'
import { selfSignedCertificate } from '../support/certificates.ts'
import { createTestDatabase, openTestConnection, useTestDatabase } from '../support/postgres.ts'

const JWT_SECRET = 'a secret of the tests that is long enough'

/** Run a command against a database; returns what it printed and its exit code. */
async function run(command: OneShotCommand, dsn: string, input = '', env: Record<string, string> = {}) {
  let out = ''
  let error = ''
  const code = await runCommand(command, {
    env: { JWT_SECRET, DB_DSN: dsn, ...env },
    files: { ...locateRuntimeFiles(), workers: fileURLToPath(inject('workersUrl')) },
    log: silentLog,
    out: (text) => {
      out += text
    },
    error: (text) => {
      error += text
    },
    readInput: async () => input,
  })
  return { code, out, error }
}

describe('the commands', async () => {
  const database = await useTestDatabase()
  const { dsn } = database

  test('check the configuration and the database', async () => {
    const edition = 'community'
    expect((await run({ kind: 'check-config', edition }, dsn)).code).toBe(0)
    const short = await run({ kind: 'check-config', edition }, dsn, '', { JWT_SECRET: 'short' })
    expect(short).toMatchObject({ code: 1, error: 'JWT_SECRET must be at least 32 characters\n' })
    const away = await run({ kind: 'check-config', edition }, 'postgres://nobody:secret@127.0.0.1:1/none')
    expect(away.code).toBe(1)
    expect(away.error).toMatch(/^check-config: /)
    expect(away.error).not.toContain('secret')
  })

  test('name the setting and the file where a certificate between processes is of no use', async () => {
    const { files, remove } = await certificateInFiles(selfSignedCertificate(['127.0.0.1']))
    try {
      const check = () =>
        run({ kind: 'check-config', edition: 'community' }, dsn, '', {
          MUSTER_INTERNAL_ADDR: '127.0.0.1:1',
          MUSTER_INTERNAL_TLS_CERT: files.certFile,
          MUSTER_INTERNAL_TLS_KEY: files.keyFile,
          MUSTER_INTERNAL_TLS_CA: files.caFile,
        })
      expect(await check()).toMatchObject({ code: 0, error: '' })
      writeFileSync(files.keyFile, selfSignedCertificate(['127.0.0.1']).key)
      expect(await check()).toMatchObject({
        code: 1,
        error: `MUSTER_INTERNAL_TLS_KEY: ${files.keyFile} does not belong to the certificate in MUSTER_INTERNAL_TLS_CERT\n`,
      })
      const lifetime = { from: new Date('2020-01-01T00:00:00Z'), to: new Date('2021-01-01T00:00:00Z') }
      await writeCertificate(files, selfSignedCertificate(['127.0.0.1'], lifetime))
      expect(await check()).toMatchObject({
        code: 1,
        error: `MUSTER_INTERNAL_TLS_CERT: the certificate in ${files.certFile} has ended (2021-01-01T00:00:00.000Z)\n`,
      })
    } finally {
      await remove()
    }
  })

  test('migrate an empty database once', async () => {
    const empty = await createTestDatabase()
    try {
      await empty.pool.execute('DROP SCHEMA public CASCADE')
      await empty.pool.execute('CREATE SCHEMA public')
      const first = await run({ kind: 'migrate' }, empty.dsn)
      expect(first.error).toBe('')
      expect(first.out).toMatch(/^Applied 1, 2/)
      expect(await run({ kind: 'migrate' }, empty.dsn)).toEqual({
        code: 0,
        out: 'Nothing to do.\n',
        error: '',
      })
    } finally {
      await empty.drop()
    }
  })

  test('do not migrate under a service that runs', async () => {
    const active = await openTestConnection(dsn)
    // The lock of an active process; see lib/store/process-lock.ts.
    await active.query('SELECT pg_advisory_lock(1836413812, 1)')
    const { code, error } = await run({ kind: 'migrate' }, dsn)
    await active.close()
    expect(code).toBe(1)
    expect(error).toContain('A muster runs on this database')
  })

  test('create a user whose password comes from standard input, and record it', async () => {
    const command: OneShotCommand = { kind: 'create-user', email: 'Eve@example.com', groups: ['editor'] }
    expect(await run(command, dsn, 'long enough to use\n')).toEqual({
      code: 0,
      out: 'Created Eve@example.com (editor).\n',
      error: '',
    })
    const again = await run(command, dsn, 'long enough to use')
    expect(again).toMatchObject({ code: 1, error: 'Cannot create Eve@example.com: email-taken\n' })
    const short = await run({ ...command, email: 'eva@example.com' }, dsn, 'short')
    expect(short.code).toBe(1)
    expect(short.error).toContain('password')
    const records = await database.pool.query<{ action: string; email: string }>(
      'SELECT action, email FROM audit_events',
    )
    expect(records).toEqual([{ action: 'user.create', email: 'command line' }])
  })

  test('verify the audit trail and name the record that was changed', async () => {
    const intact = await run({ kind: 'verify-audit', head: null }, dsn)
    expect(intact.code).toBe(0)
    expect(intact.out).toMatch(/^The audit trail is intact: 1 records\.\nhead 1:[0-9a-f]{64}\n$/)
    await database.pool.execute('ALTER TABLE audit_events DISABLE TRIGGER ALL')
    await database.pool.execute("UPDATE audit_events SET detail = 'nothing happened'")
    const broken = await run({ kind: 'verify-audit', head: null }, dsn)
    expect(broken).toEqual({
      code: 1,
      out: '',
      error: 'The audit trail is broken at record 1 (event-hash); 0 records fit.\n',
    })
  })

  test('verify the audit trail against a head that was seen before', async () => {
    await database.pool.execute('ALTER TABLE audit_events DISABLE TRIGGER ALL')
    await database.pool.execute('DELETE FROM audit_events')
    for (const email of ['a@example.com', 'b@example.com']) {
      const command: OneShotCommand = { kind: 'create-user', email, groups: ['viewer'] }
      expect((await run(command, dsn, 'long enough to use')).code).toBe(0)
    }
    const { out } = await run({ kind: 'verify-audit', head: null }, dsn)
    // The head is printed in the form in which `--head` takes it.
    const given = parseCommandLine(['verify-audit', '--head', /^head (\S+)$/m.exec(out)![1]!])
    if (given.kind !== 'verify-audit' || given.head === null) throw new Error('the head was not understood')
    const { head } = given
    expect(head.seq).toBe(2)
    expect(await run(given, dsn)).toMatchObject({
      code: 0,
      out: expect.stringContaining(`2 records, and holds the head 2:${head.hash}.`),
    })
    expect(await run({ kind: 'verify-audit', head: { ...head, hash: 'a'.repeat(64) } }, dsn)).toEqual({
      code: 1,
      out: '',
      error: 'The audit trail differs from the one whose head was expected: record 2 has another hash.\n',
    })
    await database.pool.execute('DELETE FROM audit_events WHERE seq = 2')
    expect((await run({ kind: 'verify-audit', head: null }, dsn)).code).toBe(0)
    expect(await run(given, dsn)).toEqual({
      code: 1,
      out: '',
      error: 'The audit trail was cut: it ends with record 1, and the expected head came after it.\n',
    })
  })

  test('print version and help, and refuse what they do not know', async () => {
    expect((await run({ kind: 'version' }, '')).out).toMatch(/^muster \d+\.\d+\.\d+\n$/)
    expect((await run({ kind: 'help' }, '')).out).toContain('JWT_SECRET')
    expect(await run({ kind: 'wrong', message: 'Unknown command "x"' }, '')).toEqual({
      code: 2,
      out: '',
      error: 'Unknown command "x"\nSee muster --help.\n',
    })
  })
})
