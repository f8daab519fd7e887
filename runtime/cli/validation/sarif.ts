import { isAbsolute, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { VERSION } from '../../version.ts'
import { toSafeJson } from '../output.ts'
import type { CheckedFile } from './check-text.ts'

/** Findings as a log of SARIF 2.1.0, which code hosts and editors read. */
export function toSarif(files: readonly CheckedFile[]): string {
  const codes = [...new Set(files.flatMap(({ findings }) => findings.map(({ code }) => code)))].sort()
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'muster', version: VERSION, rules: codes.map((id) => ({ id })) } },
        results: files.flatMap(({ file, findings }) =>
          findings.map(({ code, severity, message, line, column }) => ({
            ruleId: code,
            ruleIndex: codes.indexOf(code),
            level: severity,
            message: { text: message },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: toUri(file) },
                  region: { startLine: line, startColumn: column },
                },
              },
            ],
          })),
        ),
      },
    ],
  }
  return toSafeJson(log)
}

/** Relative to the folder that the command ran in, as code hosts want it; absolute where the file lies elsewhere. */
function toUri(file: string): string {
  if (file === '-') return 'stdin'
  const path = isAbsolute(file) ? relative(process.cwd(), file) : file
  if (path.startsWith('..')) return pathToFileURL(file).href
  return path.split(sep).map(encodeURIComponent).join('/')
}
