import type { WorkloadTrouble } from '../../../lib/wire/workloads.ts'
import { defineTexts } from './define.ts'

/** What kinds of trouble are called, as parts of all that are in trouble. */
export const kindTexts = defineTexts({
  en: {
    kinds: 'Kinds of trouble',
    lead: 'In trouble:',
    kind: {
      disconnected: 'disconnected',
      unhealthy: 'unhealthy',
      some_unhealthy: 'unhealthy in part',
      push_failed: 'config failed',
      rollout_halted: 'rollout halted',
      rolled_back: 'rolled back',
      some_failed: 'config failed on some',
      drifted: 'drifted',
      altered: 'changed there',
      degraded: 'degraded, no reason given',
      leaving: 'leaving',
      outdated: 'outdated',
    } satisfies Record<WorkloadTrouble['kind'], string>,
  },
  fr: {
    kinds: 'Sortes de problèmes',
    lead: 'En difficulté :',
    kind: {
      disconnected: 'déconnectés',
      unhealthy: 'en défaut',
      some_unhealthy: 'en partie en défaut',
      push_failed: 'config échouée',
      rollout_halted: 'déploiement arrêté',
      rolled_back: 'retour en arrière fait',
      some_failed: 'config échouée sur certaines',
      drifted: 'en écart',
      altered: 'modifiés sur place',
      degraded: 'dégradés, sans raison dite',
      leaving: 'en départ',
      outdated: 'dépassés',
    } satisfies Record<WorkloadTrouble['kind'], string>,
  },
})
