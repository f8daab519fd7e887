import type { World } from './world.ts'

type Often = (most: number, act: () => void) => void

const LOOKS_MS = [2_000, 6_000] as const

/** Schedule all that operators do with fleet configs and campaigns while the trouble lasts. */
export function planCampaigns(world: World, often: Often, untilMs: number): void {
  const { dice, time, campaigning, fleetConfigs } = world
  const onSome = (act: (workloadId: string) => Promise<void>) => () => {
    const id = world.pickWorkload()
    if (id !== null) void act(id)
  }
  time.after(dice.between(3_000, 6_000), () => void fleetConfigs.create())
  if (dice.chance(0.5)) time.after(dice.between(3_000, 100_000), () => void fleetConfigs.create())
  const carry = () => {
    if (dice.chance(0.4)) void campaigning.create()
    else void fleetConfigs.addVersion().then(() => campaigning.create())
  }
  for (let i = 0; i < 2; i++) time.after(dice.between(8_000, 60_000), carry)
  often(6, carry)
  often(2, () => void fleetConfigs.change())
  often(1, () => void fleetConfigs.remove())
  often(4, () => void fleetConfigs.changeRules())
  often(
    2,
    onSome((id) => fleetConfigs.setVariables(id)),
  )
  often(
    2,
    onSome((id) => fleetConfigs.hold(id)),
  )
  often(12, () => void fleetConfigs.release())
  if (dice.chance(0.5)) often(4, () => void fleetConfigs.freeze(dice.between(10_000, 60_000)))
  const look = () => {
    if (time.nowMs > untilMs) return
    void campaigning.step(false)
    void fleetConfigs.stepAutoApply(false)
    time.after(dice.between(...LOOKS_MS), look)
  }
  time.after(dice.between(...LOOKS_MS), look)
}

const REST_LOOK_MS = 15_000

/** Let operators bring every campaign to an end, now that no new one is made, until `world.isLeftAlone`. */
export function concludeCampaigns(world: World): void {
  const { time, dice, campaigning, fleetConfigs } = world
  void fleetConfigs.lift()
  // A target that is held amid its stages, and that nobody releases, is given up.
  if (dice.chance(0.5)) void fleetConfigs.releaseAll()
  const look = () => {
    if (world.isLeftAlone) return
    void campaigning.step(true)
    void fleetConfigs.stepAutoApply(true)
    time.after(REST_LOOK_MS, look)
  }
  look()
}
