import type { Fleet } from '../../lib/fleet/fleet.ts'
import { MAY_RUN_RESULT } from '../../lib/store/campaign-targets.ts'
import type { Database, Db } from '../../lib/store/db.ts'
import type { Flaw, SimService } from './service/sim-service.ts'

/** A row of an answer of the database, as the code in `lib/store` reads it. */
type Row = Record<string, unknown>

/**
 * For each promise about campaigns and versions that apply by themselves: a fault put into a process on purpose that
 * breaks it, and what the simulation then says. Most of these faults change what a process reads from its database: it
 * then decides by something that is not so. Where few seeds show a fault, the search begins at one that did (`first`).
 */
export const CAMPAIGN_FLAWS: Readonly<Record<string, { flaw: Flaw; says: RegExp; first?: number }>> = {
  'goes on with a campaign that was paused': {
    flaw: writing(
      (text, params) => text.startsWith('update campaigns set') && params.includes('paused'),
      `update campaigns set status = 'running' where id = $1`,
    ),
    says: /although it was stopped by campaign.pause/,
    first: 8,
  },
  'takes what a target runs now for the base that was approved': {
    flaw: movingBases(),
    says: /which ran \S* and not|was given something else than its base/,
  },
  'pushes to whoever was left out of the plan': {
    flaw: writing(
      (text, params) => text.startsWith('update campaigns set') && params.includes('running'),
      `update campaign_targets t set state = 'waiting', wave = 0,
         result_hash = (select max(o.result_hash) from campaign_targets o where o.campaign_id = t.campaign_id)
       where campaign_id = $1 and verdict in ('held', 'unmanaged', 'refused')`,
    ),
    says: /outside the approved set/,
    first: 35,
  },
  'tries a target that failed once more': {
    flaw: {
      ground: (ground) => ({ ...ground, db: alsoWriting(retrying(ground.db), isEndOfTargets, FAILED_WAITS) }),
    },
    says: /is that of 0 targets/,
    first: 17,
  },
  'sees no hold': {
    flaw: {
      ...reading((text, row) => {
        if (text.includes('"isHeld"')) row['isHeld'] = false
      }),
      service: ({ ctx }) => {
        ctx.fleetConfigs.reservationOf = (workload) => (ctx.fleetConfigs.freezeOf(workload) ? 'frozen' : null)
      },
    },
    says: /pushes to \S+, which is held/,
    first: 7,
  },
  'sees no freeze': {
    flaw: {
      ground: (ground) => ({ ...ground, db: without(ground.db, isOfFreeze) }),
    },
    says: /pushes to \S+, which is frozen/,
    first: 49,
  },
  'changes as many instances at once as there are': {
    flaw: reading((text, row) => {
      if (isOfCampaigns(text) && row['rules']) row['rules'] = { ...(row['rules'] as Row), maxInFlight: 1_000 }
    }),
    says: /changes \d+ instances at once/,
    first: 46,
  },
  'starts all waves at once': {
    flaw: reading((text, row) => {
      if (isOfCampaigns(text) && row['rules']) row['wave'] = 9
    }),
    says: /before its wave has begun/,
    first: 9,
  },
  'goes on after a first wave that nobody applied': {
    flaw: reading((text, row) => {
      const rules = row['rules'] as Row | undefined
      if (isOfCampaigns(text) && rules)
        row['rules'] = { ...rules, limits: { ...(rules['limits'] as Row), silent: 1_000 } }
    }),
    says: /goes on after a first wave that nobody applied/,
    first: 100,
  },
  'does not write how targets ended': {
    flaw: { ground: (ground) => ({ ...ground, db: without(ground.db, isEndOfTargets) }) },
    says: /is still open/,
  },
  'leaves what a rolled back campaign brought where it is': {
    flaw: {
      ground: (ground) => ({
        ...ground,
        db: without(
          ground.db,
          (text, params) => isOfTargets(text) && String(params[1]) === String(MAY_RUN_RESULT),
        ),
      }),
    },
    says: /still runs what the campaign brought/,
    first: 26,
  },
  'goes on applying a version that was paused or turned off': {
    flaw: writing(
      (text, params) =>
        text.startsWith('update auto_applies set') &&
        (params.includes('paused') || params.includes('turned_off')),
      `update auto_applies set status = 'active' where id = $1`,
    ),
    says: /auto_apply.push although it was stopped/,
    first: 51,
  },
  'takes no workload for a newcomer': {
    flaw: reading((text, row) => {
      if (/from auto_applies\s+where status = any/.test(text)) row['activeSince'] = new Date('2100-01-01')
    }),
    says: /is new and aap_\w+ never came to it/,
    first: 37,
  },
  'does not read fleet configs and holds again': {
    flaw: { service: loadingOnce },
    says: /fleet configs are held with/,
  },
  'gives no labels when a rule changes': {
    flaw: {
      service: ({ ctx }) => {
        ctx.labelRules.reload = () => ctx.labelRules.load(ctx.db)
      },
    },
    says: /wears by rules/,
    first: 5,
  },
}

export const isOfCampaigns = (text: string) => /from campaigns\b/.test(text)
const isOfTargets = (text: string) => /from campaign_targets\b/.test(text)
const isEndOfTargets = (text: string) => text.startsWith('update campaign_targets t set state = e.state')
const isOfFreeze = (text: string, params: readonly unknown[]) =>
  /from settings\b/.test(text) && params[0] === 'freeze'
const FAILED_WAITS = `
  update campaign_targets set state = 'waiting', push_id = null
  where campaign_id = $1 and state = 'failed' and push_id is not null`

type IsMeant = (text: string, params: readonly unknown[]) => boolean

/** The same database, with every statement sent through `around`, also inside transactions. */
function through(db: Database, around: (plain: Db) => Db): Database {
  return {
    ...around(db),
    transaction: (name, work) => db.transaction(name, (tx) => work(around(tx))),
    snapshot: (name, work) => db.snapshot(name, (tx) => work(around(tx))),
  }
}

/** A process that reads rows which `change` has changed. */
export function reading(change: (text: string, row: Row) => void): Flaw {
  return {
    ground: (ground) => ({
      ...ground,
      db: through(ground.db, (plain) => ({
        ...plain,
        query: async <R extends object>(text: string, params?: readonly unknown[]) => {
          const rows = await plain.query<R>(text, params)
          for (const row of rows) change(text, row as Row)
          return rows
        },
        execute: (text, params) => plain.execute(text, params),
      })),
    }),
  }
}

/** The same database, in which statements that are meant neither change nor find anything. */
function without(db: Database, isMeant: IsMeant): Database {
  return through(db, (plain) => ({
    query: async (text, params) => (isMeant(text, params ?? []) ? [] : plain.query(text, params)),
    execute: async (text, params) => (isMeant(text, params ?? []) ? 0 : plain.execute(text, params)),
  }))
}

/** The same database, in which each statement that is meant is followed by `more`, with its first parameter. */
function alsoWriting(db: Database, isMeant: IsMeant, more: string): Database {
  return through(db, (plain) => ({
    query: async <R extends object>(text: string, params: readonly unknown[] = []) => {
      const rows = await plain.query<R>(text, params)
      if (isMeant(text, params)) await plain.execute(more, [params[0]])
      return rows
    },
    execute: async (text, params = []) => {
      const count = await plain.execute(text, params)
      if (isMeant(text, params)) await plain.execute(more, [params[0]])
      return count
    },
  }))
}

function writing(isMeant: IsMeant, more: string): Flaw {
  return { ground: (ground) => ({ ...ground, db: alsoWriting(ground.db, isMeant, more) }) }
}

/** The same database, in which every campaign may push again what failed. */
const retrying = (db: Database): Database =>
  reading((text, row) => {
    if (isOfCampaigns(text) && row['rules'])
      row['rules'] = { ...(row['rules'] as Row), retryQuarantined: true }
  }).ground!({ db } as never).db

function movingBases(): Flaw {
  let fleet: Fleet | null = null
  return {
    ...reading((text, row) => {
      if (isOfTargets(text) && row['baseHash'] !== undefined)
        row['baseHash'] = fleet?.workload(String(row['workloadId']))?.activeHash ?? null
    }),
    service: (service) => {
      fleet = service.fleet
    },
  }
}

function loadingOnce({ ctx }: SimService): void {
  const load = ctx.fleetConfigs.load.bind(ctx.fleetConfigs)
  let isLoaded = false
  ctx.fleetConfigs.load = async (db) => {
    if (!isLoaded) await load(db)
    isLoaded = true
  }
}
