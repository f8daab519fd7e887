import type { DefaultRollbackAccepted, RollbackAccepted } from '../../../lib/wire/rollback.ts'
import type { ClientCommandSpec } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { OUTPUT_OPTION, printJson, printLine, shortHash } from '../output.ts'
import { findWorkload, openApi, ServiceRefusal, URL_OPTION } from '../server/api.ts'

/** `muster rollback`: push an earlier config again. */
export const rollback: ClientCommandSpec = {
  usage: 'WORKLOAD [--to HASH]',
  summary: 'Push the known-good config again, or the one before; with --to, one of the history.',
  positionals: { min: 1, max: 1 },
  options: [
    URL_OPTION,
    OUTPUT_OPTION,
    { name: '--to', value: 'HASH', says: 'the whole hash of the config to go back to' },
  ],
  async run(args, io) {
    const api = await openApi(args, io)
    const { id, display_name: name } = await findWorkload(api, args.positionals[0]!)
    const hash = args.text('to')
    const path = hash === undefined ? 'rollback' : `configs/${encodeURIComponent(hash)}/rollback`
    const accepted = await api
      .post<DefaultRollbackAccepted | RollbackAccepted>(`/api/workloads/${id}/${path}`)
      .catch((error) => {
        throw withReason(error)
      })
    if (args.text('output') === 'json') printJson(io, accepted)
    else printLine(io, `${name} goes back to ${shortHash(accepted.config_hash)} (push ${accepted.push_id}).`)
    return EXIT.done
  },
}

/** Says beside the refusal what there would have to be: only what was approved and applied is gone back to. */
function withReason(error: unknown): unknown {
  if (!(error instanceof ServiceRefusal) || error.code !== 'no_rollback_target') return error
  const why = 'no earlier config was approved and applied here; muster get revisions lists what was pushed'
  return new ServiceRefusal(`${error.message}\n  ${why}`, error.exitCode, {
    status: error.status,
    code: error.code,
  })
}
