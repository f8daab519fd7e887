// `npm run verify-pack FILE [-- --key PUBLIC.pem]`: check a JSON evidence pack's hashes and signature, offline.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { verifyPack } from '../../lib/reports/verify.ts'

const { values, positionals } = parseArgs({
  options: { key: { type: 'string' } },
  allowPositionals: true,
})
const file = positionals[0]
if (file === undefined || positionals.length > 1) {
  console.error('usage: npm run verify-pack FILE [-- --key PUBLIC.pem]')
  process.exit(2)
}

const verdict = verifyPack(
  readFileSync(file, 'utf8'),
  values.key === undefined ? null : readFileSync(values.key, 'utf8'),
)
for (const { name, result, detail } of verdict.checks) console.log(`${result.padEnd(8)}${name}: ${detail}`)
console.log(verdict.isIntact ? (verdict.isSigned ? 'intact and signed' : 'intact, not signed') : 'NOT INTACT')
process.exitCode = verdict.isIntact ? 0 : 1
