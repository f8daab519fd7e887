import type { CheckedFile } from './check-text.ts'

const inProperty = (text: string) => inMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
const inMessage = (text: string) =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

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
