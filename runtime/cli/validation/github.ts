import { toLine } from '../output.ts'
import type { CheckedFile } from './check-text.ts'

const inProperty = (text: string) => inMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
// In one line and without control characters, which GitHub would decode again.
const inMessage = (text: string) => toLine(text).replaceAll('%', '%25')

/** Findings as workflow commands, which GitHub shows beside the lines of a change. */
export function toGitHub(files: readonly CheckedFile[]): string {
  return files
    .flatMap(({ file, findings }) =>
      findings.map(({ severity, line, column, code, message }) => {
        const place = `file=${inProperty(file)},line=${line},col=${column},title=${inProperty(code)}`
        return `::${severity} ${place}::${inMessage(message)}\n`
      }),
    )
    .join('')
}
