import { Membership, type MembershipParts } from '../../../lib/cluster/membership.ts'
import { deriveFleetKeys } from '../../../lib/cluster/proofs.ts'
import { LINK_VERSIONS } from '../../../lib/links/link-versions.ts'
import { silentLog } from '../../../lib/log.ts'
import { TEST_CONFIG } from '../../support/invoke.ts'
import type { Client, SimDatabase } from '../database/sim-database.ts'
import type { VirtualTime } from '../time/virtual-time.ts'

const KEYS = deriveFleetKeys(TEST_CONFIG.jwtSecret)
/** All processes are of one build, which knows every migration. */
const NEWEST_MIGRATION = 9_000

/** What a simulated process is as a member, and what it does about what it hears. */
export interface SimMemberParts extends Pick<MembershipParts, 'onRenewed' | 'onLate' | 'onOwnershipLost'> {
  name: string
  address: string
  /** The newest version of links that its build speaks; that of this build by default. */
  linkVersion?: number
  client: Client
  database: SimDatabase
  time: VirtualTime
}

/** The membership of a simulated process: that of the product, over the simulated database and time. */
export function openSimMember({
  name,
  address,
  linkVersion = LINK_VERSIONS.newest,
  client,
  database,
  time,
  ...heard
}: SimMemberParts): Membership {
  const { clock } = time
  const membership: Membership = new Membership({
    self: {
      id: name,
      address,
      host: 'box',
      pid: 1,
      version: '0.0.0',
      linkVersion,
      startedAt: clock.now(),
      newestMigration: NEWEST_MIGRATION,
      newestBreaking: 0,
    },
    keys: KEYS,
    connect: () => database.openControl(client, 'members'),
    clock,
    timers: time.timersOf(client),
    log: silentLog,
    suitOf: (id) => (id === membership.owner?.id && id !== name ? null : 'good'),
    onOutdated() {},
    ...heard,
  })
  return membership
}
