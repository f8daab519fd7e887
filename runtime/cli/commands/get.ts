import { aboutOf } from '../../../lib/model/alert-about.ts'
import { sayError } from '../../../lib/model/error-words.ts'
import { placeOf } from '../../../lib/model/places.ts'
import { sayTrouble, TROUBLE_WORDS } from '../../../lib/model/trouble-words.ts'
import { troubleRank } from '../../../lib/model/troubles.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { ApprovalSummary } from '../../../lib/wire/approvals.ts'
import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import type { ClientCommandSpec } from '../command.ts'
import { CommandFailure, EXIT, WrongArguments } from '../exit-codes.ts'
import { OUTPUT_OPTION, printJson, printTable, sayStanding, sayUnhealthy, shortHash } from '../output.ts'
import { type Api, findWorkload, openApi, URL_OPTION } from '../server/api.ts'

/** Records as the service sent them, and what people see of each. */
interface Listed {
  records: unknown
  rows: readonly (readonly string[])[]
}

/** A kind of record, and where it is read. */
interface Kind {
  isOfWorkload: boolean
  head: readonly string[]
  /** `base` is the path of the workload that was named. */
  read(api: Api, base: string): Promise<Listed>
}

async function readWith<Item>(
  api: Api,
  path: string,
  row: (item: Item) => readonly string[],
  /** How people are shown them; programs get them as the service sends them. */
  compare?: (a: Item, b: Item) => number,
): Promise<Listed> {
  const records = await api.get<Item[]>(path)
  return { records, rows: (compare === undefined ? records : [...records].sort(compare)).map(row) }
}

/** The workloads by id, and what people call each; one that is gone is called by its id. */
async function readWorkloads(api: Api) {
  const all = new Map((await api.get<WorkloadRecord[]>('/api/workloads')).map((one) => [one.id, one]))
  return {
    all,
    nameOf: (id: string) => all.get(id)?.display_name || id,
    placeOf: (id: string) => placeOf(all.get(id)?.fingerprint_keys ?? {}) || '-',
  }
}

/** What happened, with what it is about and on which instances, as the pages say it. */
function sayAlert(alert: AlertRecord, workload: WorkloadRecord | undefined): string {
  const about = sayError('', aboutOf(alert, workload?.trouble))
  const instances = String(alert.details?.['instances'] ?? '')
  return [alert.message, about, instances === '' ? '' : `on ${instances}`]
    .filter((part) => part !== '')
    .join('; ')
}

/**
 * What is built into the collector of a workload, in the form that `validate --components` reads. Throws CommandFailure
 * where it has not said.
 */
async function readComponents(api: Api, base: string): Promise<Listed> {
  const { available_components: known, version } = await api.get<WorkloadRecord>(base)
  if (known === undefined) throw new CommandFailure('its collector has not said which components it has')
  return {
    records: { ...(version ? { buildinfo: { version } } : {}), ...known.components },
    rows: Object.entries(known.components).flatMap(([kind, names]) => names.map((name) => [kind, name])),
  }
}

const KINDS: Readonly<Record<string, Kind>> = {
  workloads: {
    isOfWorkload: false,
    head: ['NAME', 'PLACE', 'STATUS', 'VERSION', 'INSTANCES', 'CONFIG', 'TROUBLE', 'ID'],
    read: (api) =>
      readWith<WorkloadRecord>(
        api,
        '/api/workloads',
        (one) => [
          ...[one.display_name, placeOf(one.fingerprint_keys ?? {}) || '-', one.status, one.version || '-'],
          ...[
            String(one.connected_instance_count),
            shortHash(one.active_config_hash),
            one.trouble === undefined
              ? '-'
              : `${sayTrouble(TROUBLE_WORDS, one.trouble)}${sayUnhealthy(one.trouble)}`,
            one.id,
          ],
        ],
        (a, b) => troubleRank(a) - troubleRank(b),
      ),
  },
  instances: {
    isOfWorkload: true,
    head: ['UID', 'POD', 'VERSION', 'HEALTHY', 'RUNS', 'ASSIGNED'],
    read: (api, base) =>
      readWith<LiveInstance>(api, `${base}/instances`, (one) => [
        ...[one.instance_uid, one.pod_name ?? '-', one.version ?? '-', one.healthy ? 'yes' : 'no'],
        ...[shortHash(one.effective_config_hash), shortHash(one.assigned_config_hash)],
      ]),
  },
  components: {
    isOfWorkload: true,
    head: ['KIND', 'NAME'],
    read: readComponents,
  },
  revisions: {
    isOfWorkload: true,
    head: ['CONFIG', 'STATUS', 'SUBMITTED', 'BY', 'APPLIED', 'LABEL'],
    read: (api, base) =>
      readWith<RevisionRecord>(api, `${base}/configs`, (one) => [
        ...[shortHash(one.config_hash), sayStanding(one), one.submitted_at, one.pushed_by ?? '-'],
        ...[`${one.applied_count}/${one.target_count}`, one.label ?? '-'],
      ]),
  },
  requests: {
    isOfWorkload: false,
    head: ['ID', 'STATUS', 'WORKLOAD', 'PLACE', 'CONFIG', 'BY', 'CREATED', 'WORKLOAD ID'],
    async read(api) {
      const { nameOf, placeOf } = await readWorkloads(api)
      return readWith<ApprovalSummary>(api, '/api/approvals', (one) => [
        ...[one.id, one.status, nameOf(one.workload_id), placeOf(one.workload_id)],
        ...[shortHash(one.draft_hash), one.requester, one.created_at, one.workload_id],
      ])
    },
  },
  alerts: {
    isOfWorkload: false,
    head: ['SEVERITY', 'RULE', 'ABOUT', 'PLACE', 'FIRED', 'MESSAGE'],
    async read(api) {
      const { all, nameOf, placeOf } = await readWorkloads(api)
      return readWith<AlertRecord>(
        api,
        '/api/alerts',
        (one) => [
          ...[one.severity, one.rule, nameOf(one.workload_id) || String(one.details?.['name'] ?? '-')],
          ...[placeOf(one.workload_id), one.fired_at, sayAlert(one, all.get(one.workload_id))],
        ],
        (a, b) => Number(b.severity === 'critical') - Number(a.severity === 'critical'),
      )
    },
  },
}
const NAMES = Object.keys(KINDS)

/** `muster get`: list records. */
export const get: ClientCommandSpec = {
  usage: `${NAMES.join('|')} [WORKLOAD]`,
  summary: 'List what a service knows.',
  details:
    'WORKLOAD, an id, or a name, host or namespace that only one has, is for instances, components and revisions.',
  positionals: { min: 1, max: 2 },
  words: NAMES,
  options: [URL_OPTION, OUTPUT_OPTION],
  async run(args, io) {
    const [name = '', named] = args.positionals
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined
    if (kind === undefined) throw new WrongArguments(`there are ${NAMES.join(', ')}, found "${name}"`)
    if (kind.isOfWorkload !== (named !== undefined))
      throw new WrongArguments(
        kind.isOfWorkload ? `${name} of which workload?` : `Unknown argument "${named}"`,
      )
    const api = await openApi(args, io)
    const base = named === undefined ? '' : `/api/workloads/${(await findWorkload(api, named)).id}`
    const { records, rows } = await kind.read(api, base)
    if (args.text('output') === 'json') printJson(io, records)
    else printTable(io, kind.head, rows)
    return EXIT.done
  },
}
