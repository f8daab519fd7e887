import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ALERT_RULES } from '../../lib/wire/values.ts'

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

it('the README says of every alert what it tells', () => {
  const [said = ''] = /^- \*\*Alerts\*\*[\s\S]*?(?=\n- \*\*)/m.exec(README) ?? []
  expect(ALERT_RULES.length).toBeGreaterThan(10)
  expect(ALERT_RULES.filter((rule) => !said.includes(`\`${rule}\``))).toEqual([])
})
