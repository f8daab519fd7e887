import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readJudgedConfigs } from './judged-configs.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-judged-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it('says why the tests of the configs of others are skipped where these are not beside the checkout', () => {
  const absent = join(folder, 'nowhere')
  expect(readJudgedConfigs(null, absent)).toMatchObject({
    judged: [],
    files: [],
    skipped: expect.stringContaining(`there is no ${absent}`),
  })
})

it('does not skip them where a folder is named, or there, and has no verdicts', () => {
  expect(() => readJudgedConfigs(join(folder, 'nowhere'), folder)).toThrow('were expected in')
  expect(() => readJudgedConfigs(null, folder)).toThrow('were expected in')
  writeFileSync(join(folder, 'verdicts.jsonl'), '\n')
  expect(() => readJudgedConfigs(null, folder)).toThrow('were expected in')
})

it('reads them with their verdicts', () => {
  writeFileSync(join(folder, 'a.yaml'), 'receivers: {}')
  writeFileSync(join(folder, 'verdicts.jsonl'), '{"file":"a.yaml","class":"valid"}\n')
  expect(readJudgedConfigs(null, folder)).toMatchObject({
    judged: [{ file: 'a.yaml', class: 'valid' }],
    files: ['a.yaml'],
    skipped: null,
  })
})
