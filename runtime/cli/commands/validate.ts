import { readRegularFile } from '../../regular-file.ts'
import type { Arguments, ClientCommandSpec, ClientIo } from '../command.ts'
import { CommandFailure, EXIT } from '../exit-codes.ts'
import { hasColour, printJson, toLine } from '../output.ts'
import { decodeText } from '../text-file.ts'
import { type CheckedFile, checkText, type Finding, type OfflineTarget } from '../validation/check-text.ts'
import { readComponentList } from '../validation/component-list.ts'
import { toGitHub } from '../validation/github.ts'
import { toSarif } from '../validation/sarif.ts'

const FORMATS = ['text', 'json', 'sarif', 'github'] as const
/** What the service takes of a config at most. */
const CONFIG_BYTES_MAX = 1_048_576
/** Longer than any list of components. */
const LIST_BYTES_MAX = 8_388_608

/** `muster validate`: check configs without a service. */
export const validate: ClientCommandSpec = {
  usage: 'FILE… [options]',
  summary: 'Check collector configs offline: YAML, structure, components and policies.',
  details: `FILE may be - for standard input. With a list of components (what "otelcol components" prints), what the
collector lacks is found as well. The policies are those of the service, with its settings from the
same variables. Exit codes: 0 nothing is wrong, 1 a file cannot be read, 3 something is.`,
  positionals: { min: 1, max: 10_000 },
  options: [
    { name: '--output', short: '-o', value: 'FORMAT', choices: FORMATS, says: 'how to tell it' },
    { name: '--components', value: 'FILE', says: 'what "otelcol components" printed' },
    { name: '--collector-version', value: 'VERSION', says: 'the version that is to run it' },
    { name: '--environment', value: 'NAME', says: 'where it is to run: the policies are about productions' },
    { name: '--variables', says: 'texts of fleet configs, too: muster fills in ${muster:NAME} later' },
  ],
  run: validateFiles,
}

async function validateFiles(args: Arguments, io: ClientIo): Promise<number> {
  const target = await readTarget(args, io)
  const files: CheckedFile[] = []
  for (const file of args.positionals)
    files.push(checkText(file, await readText(file, CONFIG_BYTES_MAX, io), target))
  const format = args.text('output') ?? 'text'
  if (format === 'json') printJson(io, { files })
  else if (format === 'sarif') io.out(toSarif(files))
  else if (format === 'github') io.out(toGitHub(files))
  else io.out(toText(files, hasColour(io)))
  return files.some(({ isValid }) => !isValid) ? EXIT.refused : EXIT.done
}

async function readTarget(args: Arguments, io: ClientIo): Promise<OfflineTarget> {
  const list = args.text('components')
  const reported = list === undefined ? null : readComponentList(await readText(list, LIST_BYTES_MAX, io))
  if (list !== undefined && reported === null)
    throw new CommandFailure(`${list} is no list of components, as "otelcol components" prints one`)
  const words = (name: string) =>
    (io.env[name] ?? '')
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '')
  return {
    components: reported?.components ?? null,
    version: args.text('collector-version') ?? reported?.version ?? '',
    minimumVersion: (io.env['OTELCOL_MIN_RUNTIME_VERSION'] ?? '').trim(),
    environment: args.text('environment') ?? '',
    hasVariables: args.isSet('variables'),
    policy: {
      allowed_otlp_endpoints: words('MUSTER_POLICY_OTLP_ALLOWLIST'),
      critical_exporters: words('MUSTER_POLICY_CRITICAL_EXPORTERS'),
      required_resource_attributes: words('MUSTER_POLICY_REQUIRED_RESOURCE_ATTRIBUTES'),
    },
  }
}

async function readText(file: string, bytesMax: number, io: ClientIo): Promise<string> {
  try {
    // Who proposes a file may propose a link to anything.
    const bytes = file === '-' ? await io.readInput() : readRegularFile(file, bytesMax + 1)
    if (bytes === null) throw new CommandFailure(`${file} is no file`)
    if (bytes.byteLength > bytesMax)
      throw new CommandFailure(`${file} is larger than the ${bytesMax / 1_048_576} MiB that muster takes`)
    return decodeText(file === '-' ? 'standard input' : file, bytes)
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
}

const COLOURS = { error: 31, warning: 33, info: 36 } as const

function toText(files: readonly CheckedFile[], isColoured: boolean): string {
  const tell = (file: string, { line, column, severity, message, code }: Finding) => {
    const word = isColoured ? `\u001b[${COLOURS[severity]}m${severity}\u001b[0m` : severity
    return `${toLine(`${file}:${line}:${column}:`)} ${word}: ${toLine(`${message} [${code}]`)}\n`
  }
  return files
    .map(({ file, isValid, findings }) => {
      const told = findings.map((finding) => tell(file, finding)).join('')
      return `${told}${toLine(`${file}: ${isValid ? 'valid' : 'refused'}`)}\n`
    })
    .join('')
}
