import { sayAftermath } from '../../../lib/model/aftermath-words.ts'
import { aboutOf } from '../../../lib/model/alert-about.ts'
import { sayError } from '../../../lib/model/error-words.ts'
import { sayTrouble, TROUBLE_WORDS } from '../../../lib/model/trouble-words.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord, WorkloadTrouble } from '../../../lib/wire/workloads.ts'
import { readSeconds } from '../arguments.ts'
import type { ClientCommandSpec, ClientIo } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { OUTPUT_OPTION, printJson, printTable, sayStanding, sayUnhealthy, shortHash } from '../output.ts'
import { type Api, findWorkload, openApi, URL_OPTION } from '../server/api.ts'
import { waitWhile } from '../server/wait.ts'

const WAIT_SECONDS_DEFAULT = 300
const WAIT_SECONDS_MAX = 86_400

/** `muster status`: how a workload is, and whether it runs what it should. */
export const status: ClientCommandSpec = {
  usage: 'WORKLOAD [--wait] [--exit-code]',
  summary: 'Say how a workload is, and whether it runs what it should.',
  details: `With --exit-code it ends with 4 where something is under way, waits or is wrong; with --wait it first waits until
nothing is under way any more.`,
  positionals: { min: 1, max: 1 },
  options: [
    URL_OPTION,
    OUTPUT_OPTION,
    { name: '--wait', says: 'wait until the newest push has ended' },
    { name: '--timeout', value: 'SECONDS', says: `wait so long at most (${WAIT_SECONDS_DEFAULT})` },
    { name: '--exit-code', says: 'end with 4 where all is not well' },
  ],
  async run(args, io) {
    const seconds = readSeconds(args, 'timeout', WAIT_SECONDS_DEFAULT, WAIT_SECONDS_MAX)
    const api = await openApi(args, io)
    let workload = await findWorkload(api, args.positionals[0]!)
    if (args.isSet('wait')) {
      const what = { path: `/api/workloads/${workload.id}`, first: workload, seconds }
      workload = await waitWhile(api, what, isUnderWay)
    }
    if (args.text('output') === 'json') printJson(io, workload)
    else print(io, workload, await readAlerts(api, workload))
    const isAsked = args.isSet('wait') || args.isSet('exit-code')
    return isAsked && !isWell(workload) ? EXIT.differs : EXIT.done
  },
}

const isUnderWay = ({ current_config_push: push, applying_instance_count: applying }: WorkloadRecord) =>
  (push !== undefined && sayStanding(push) === 'pending') || applying > 0

const isWell = (workload: WorkloadRecord) =>
  workload.status === 'connected' &&
  workload.trouble === undefined &&
  workload.waiting_approval_count === 0 &&
  !isUnderWay(workload)

/** Its open alerts; none are asked for where it has none. */
const readAlerts = (api: Api, { id, open_alert_count: count }: WorkloadRecord): Promise<AlertRecord[]> =>
  count === 0 ? Promise.resolve([]) : api.get<AlertRecord[]>(`/api/alerts?workload_id=${id}`)

/** What it is to run, and what it runs where that is something else. */
function describeWanted({ active_config_hash: hash, running_configs: running }: WorkloadRecord): string {
  if (running === undefined) return shortHash(hash)
  const { wanted_count, instance_count, unknown_count, others } = running
  const parts = [
    `${wanted_count} of ${instance_count} run it`,
    ...others.map((other) => `${other.instance_count} run ${shortHash(other.config_hash)}`),
    ...(unknown_count > 0 ? [`of ${unknown_count} it is not known`] : []),
  ]
  return `${shortHash(hash)} (${parts.join(', ')})`
}

/** How far the newest push got. A staged rollout that halted waits for a person, whatever its push says. */
function describePush(push: RevisionRecord, trouble: WorkloadTrouble | undefined): string {
  const { outcome, applied_count: applied, target_count: all, failed_count: failed } = push
  if (sayStanding(push) === 'halted') {
    const why = sayError(trouble?.error_title, trouble)
    return `halted, applied on ${applied} of ${all} instances${why === '' ? '' : ` (${why})`}`
  }
  if (outcome !== 'in_part') return sayStanding(push)
  return `applied on ${applied} of ${all} instances, ${failed} failed`
}

/** What is wrong, on how many instances, why, and since when. */
function describeTrouble({ trouble }: WorkloadRecord): string {
  if (trouble === undefined) return '-'
  const { since, component, error_title: title } = trouble
  const why = [component ?? '', sayError(title, trouble)].filter((part) => part !== '').join(', ')
  return `${sayTrouble(TROUBLE_WORDS, trouble)}${sayUnhealthy(trouble)}${why === '' ? '' : ` (${why})`}${since === undefined ? '' : `, since ${since}`}`
}

/** How many say that they applied their config and report to run something else. */
const sayAltered = ({ altered_instance_count: altered = 0 }: WorkloadRecord): string =>
  altered === 0 ? '' : `, ${altered} changed there`

function print(io: ClientIo, workload: WorkloadRecord, alerts: readonly AlertRecord[]): void {
  const { current_config_push: push, trouble } = workload
  const aftermath = trouble?.aftermath
  printTable(
    io,
    ['WORKLOAD', workload.display_name],
    [
      ['id', workload.id],
      ['status', workload.status],
      ['version', workload.version || '-'],
      [
        'instances',
        `${workload.connected_instance_count} connected, ${workload.drifted_instance_count} drifted${sayAltered(workload)}`,
      ],
      ['wanted config', describeWanted(workload)],
      ['newest push', push === undefined ? '-' : describePush(push, trouble)],
      ['open alerts', String(workload.open_alert_count)],
      ['waiting requests', String(workload.waiting_approval_count)],
      ['trouble', describeTrouble(workload)],
      ...(aftermath === undefined ? [] : [['what was done', sayAftermath(aftermath)]]),
    ],
  )
  for (const alert of alerts) {
    const { rule, fired_at: at, message, details, next } = alert
    const about = sayError('', aboutOf(alert, trouble))
    const instances = String(details?.['instances'] ?? '')
    const rows = [
      ['since', at],
      ['why', message],
      ...(about !== '' ? [['about', about]] : []),
      ...(instances === '' ? [] : [['on', instances]]),
      ...(next === undefined ? [] : [['next', next]]),
    ]
    printTable(io, ['ALERT', rule], rows)
  }
}
