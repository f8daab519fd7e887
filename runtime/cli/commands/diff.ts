import { readFile } from 'node:fs/promises'
import type { ConfigDiff } from '../../../lib/wire/diff.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { ClientCommandSpec, ClientIo } from '../command.ts'
import { CommandFailure, EXIT } from '../exit-codes.ts'
import { OUTPUT_OPTION, printJson, printLine, printTable } from '../output.ts'
import { findWorkload, openApi, URL_OPTION } from '../server/api.ts'
import { decodeText } from '../text-file.ts'

/** `muster diff`: what a file would change in meaning. */
export const diff: ClientCommandSpec = {
  usage: 'WORKLOAD FILE [--exit-code]',
  summary: 'Compare a file with the config that a workload is to run, by meaning; secrets are masked.',
  positionals: { min: 2, max: 2 },
  options: [URL_OPTION, OUTPUT_OPTION, { name: '--exit-code', says: 'end with 4 where something differs' }],
  async run(args, io) {
    const [named = '', file = ''] = args.positionals
    const target =
      file === '-' ? decodeText('standard input', await io.readInput()) : await readConfigFile(file)
    const api = await openApi(args, io)
    const { id, active_config_hash: hash, display_name: name } = await findWorkload(api, named)
    if (hash === undefined)
      throw new CommandFailure(`nothing was pushed to ${name} that a file could differ from`)
    const { content } = await api.get<RevisionRecord>(`/api/workloads/${id}/configs/${hash}`)
    if (content === undefined) throw new CommandFailure(`the text of ${name}'s config is not kept any more`)
    const found = await api.post<ConfigDiff>('/api/configs/diff', {
      base_yaml: content,
      target_yaml: target,
      context: { workload_id: id },
    })
    if (!found.valid && args.text('output') !== 'json')
      throw new CommandFailure(
        sayUnreadable(found, { file: file === '-' ? 'standard input' : file, name }),
        EXIT.refused,
      )
    if (args.text('output') === 'json') printJson(io, found)
    else print(io, found)
    const differs = found.human_summary.some(({ kind }) => kind !== 'unchanged')
    if (!found.valid) return EXIT.refused
    return args.isSet('exit-code') && differs ? EXIT.differs : EXIT.done
  },
}

/** Which of the two configs cannot be read, and why. */
const sayUnreadable = ({ diagnostics }: ConfigDiff, called: { file: string; name: string }): string =>
  diagnostics
    .map(
      ({ side, message }) =>
        `${side === 'target' ? called.file : `the config of ${called.name}`}: ${message}`,
    )
    .join('\n  ')

async function readConfigFile(file: string): Promise<string> {
  try {
    return decodeText(file, await readFile(file))
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
}

function print(io: ClientIo, { summary, human_summary: lines }: ConfigDiff): void {
  const changed = lines.filter(({ kind }) => kind !== 'unchanged')
  printLine(io, summary.headline)
  if (changed.length === 0) return
  const rows = changed.map(({ kind, risk, text, before, after }) => [
    kind,
    risk,
    text,
    before ?? '-',
    after ?? '-',
  ])
  printTable(io, ['CHANGE', 'RISK', 'WHAT', 'BEFORE', 'AFTER'], rows)
}
