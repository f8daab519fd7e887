import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claimDirectory, forgetRunning, noteRunning } from '../../../runtime/quickstart/running.ts'
import { openSettings } from '../../../runtime/quickstart/settings.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-test-settings-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

describe('the settings of the quick start', () => {
  test('are made up once, long enough for the service, and read by their owner only', async () => {
    const first = await openSettings(join(folder, 'data'))
    expect(first.jwtSecret.length).toBeGreaterThanOrEqual(32)
    expect(first.adminPassword.length).toBeGreaterThanOrEqual(12)
    expect(await openSettings(join(folder, 'data'))).toEqual(first)
    expect((await stat(join(folder, 'data', 'settings.json'))).mode & 0o777).toBe(0o600)
    const other = await openSettings(join(folder, 'other'))
    expect(other.adminPassword).not.toBe(first.adminPassword)
  })

  test('that miss something are refused by its name, and left as they are', async () => {
    const file = join(folder, 'settings.json')
    await writeFile(file, '{"jwtSecret":"x","databasePassword":"y","adminEmail":"a@b.c"}')
    await expect(openSettings(folder)).rejects.toThrow('"adminPassword" is missing')
    expect(await readFile(file, 'utf8')).toContain('"jwtSecret":"x"')
  })
})

describe('the note of what runs', () => {
  test('lets a start go on when the one that left it is gone', async () => {
    // No process has this number: it is above the largest that Linux gives.
    await writeFile(join(folder, 'running.json'), '{"pid":99999999,"url":"http://x","services":[99999998]}')
    await claimDirectory(folder)
    await expect(stat(join(folder, 'running.json'))).rejects.toThrow('ENOENT')
  })

  test('is written with this process and taken back', async () => {
    await noteRunning(folder, { url: 'http://x', services: [7] })
    expect(JSON.parse(await readFile(join(folder, 'running.json'), 'utf8'))).toEqual({
      pid: process.pid,
      url: 'http://x',
      services: [7],
    })
    await forgetRunning(folder)
    await expect(stat(join(folder, 'running.json'))).rejects.toThrow('ENOENT')
  })
})
