import { expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { startTestMember } from '../../support/members.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { findFreePort } from '../../support/service.ts'

const database = await useTestDatabase()

it('of a process that does not own tell how full its listeners are, the internal one too', async () => {
  const ports = [await findFreePort(), await findFreePort()]
  const [owner, front] = [
    await startTestMember(database, { metricsAddress: `127.0.0.1:${ports[0]}` }),
    await startTestMember(database, { metricsAddress: `127.0.0.1:${ports[1]}` }),
  ]
  const read = async (port: number) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  try {
    await eventually('it has a link', async () => (await front.call('GET', '/readyz')).status === 200)
    // The later one does not own, unless both stood still for seconds, as they may where the machine is busy.
    const port = (await read(ports[1]!)).includes('muster_owner 0') ? ports[1]! : ports[0]!
    const metrics = await read(port)
    expect(metrics).toContain('muster_owner 0')
    for (const listener of ['api', 'opamp', 'internal']) {
      expect(metrics).toContain(`muster_sockets_open{listener="${listener}"} 0`)
      expect(metrics).toContain(`muster_connections_turned_away_total{listener="${listener}"} 0`)
    }
    expect(metrics).toContain('muster_front_agents_refused_total 0')
    // It says how many agents it has, each five seconds.
    await eventually('entries on its link are counted', async () =>
      /^muster_front_entries_total [1-9]/m.test(await read(port)),
    )
  } finally {
    await front.stop()
    await owner.stop()
  }
})
