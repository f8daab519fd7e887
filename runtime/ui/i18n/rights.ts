import { HOLDER_ACTIVE_DAYS } from '../../../lib/model/lifetimes.ts'
import type { Permission } from '../../../lib/model/permissions.ts'
import { defineTexts, say } from './define.ts'

const EN: Record<Permission, string> = {
  'alert:resolve': 'Resolve alerts',
  'audit:view': 'See the audit trail',
  'config:approve': 'Approve and reject changes, look at what was done without an approval',
  'config:break_glass': 'Push without an approval',
  'config:create': 'Write templates, fleet configs and variables',
  'config:read_content': 'Read configs and agents’ own words',
  'config:request': 'Ask for changes, and see what was asked for',
  'reports:export': 'Export evidence packs: what ran where, and who changed it',
  'settings:manage': 'Change settings, policies, trusted labels and push groups',
  'users:manage': 'Manage users, service accounts and their tokens',
  'workload:archive': 'Archive workloads',
  'workload:delete': 'Remove workloads',
  'workload:push_config': 'Push what is approved, roll back, pin, and run campaigns',
  'workload:validate_config': 'Check configs',
}

const FR: Record<Permission, string> = {
  'alert:resolve': 'Résoudre les alertes',
  'audit:view': 'Voir le journal d’audit',
  'config:approve': 'Approuver et rejeter, regarder ce qui a été fait sans approbation',
  'config:break_glass': 'Pousser sans approbation',
  'config:create': 'Écrire des modèles, des configs de parc et des variables',
  'config:read_content': 'Lire les configurations et les mots des agents',
  'config:request': 'Demander des modifications et voir ce qui a été demandé',
  'reports:export': 'Exporter des dossiers de preuves : ce qui tournait où, et qui l’a changé',
  'settings:manage': 'Changer les réglages, les règles, les étiquettes de confiance et les groupes',
  'users:manage': 'Gérer les utilisateurs, les comptes de service et leurs jetons',
  'workload:archive': 'Archiver des workloads',
  'workload:delete': 'Supprimer des workloads',
  'workload:push_config': 'Pousser ce qui est approuvé, revenir en arrière, épingler, mener des campagnes',
  'workload:validate_config': 'Vérifier des configurations',
}

/** Texts about what a person or an account may do, and why. */
export const rightsTexts = defineTexts({
  en: {
    open: 'Rights',
    title: (name: string) => `What ${name} may do`,
    lead: 'On all workloads, where nothing else is said. Reading the fleet needs none of these.',
    texts:
      'Within a scope, the text of a fleet config may be read by whoever may read the config of one workload under it, without the rows of its table that are others’; it may be changed where all that it selects lies within the scope.',
    within: (scopes: string) => `only where ${scopes}`,
    column: { right: 'Right', why: 'By' },
    group: (names: string) => `group ${names}`,
    none: 'no',
    needsPerson: 'takes a person who is signed in',
    permission: EN,
    tokens: 'Tokens',
    token: { name: 'Token', may: 'It may', not: 'It may not' },
    nothing: 'read the fleet',
    idle: {
      expired: 'has expired',
      holder_inactive: `does not work: its holder has not signed in for ${HOLDER_ACTIVE_DAYS} days`,
      ownerless: 'does not work: nobody owns the service account',
    },
    why: { needs_person: 'takes a person', not_held: 'the holder may not' },
  },
  fr: {
    open: 'Droits',
    title: (name: string) => `Ce que ${name} peut faire`,
    lead: 'Sur tous les workloads, sauf mention contraire. Lire le parc n’en demande aucun.',
    texts:
      'Dans un périmètre, le texte d’une config de parc peut être lu par qui peut lire celle d’un workload qui la suit, sans les lignes de sa table qui sont à d’autres ; il peut être modifié là où tout ce qu’elle choisit est dans le périmètre.',
    within: (scopes: string) => `seulement là où ${scopes}`,
    column: { right: 'Droit', why: 'Par' },
    group: (names: string) => `groupe ${names}`,
    none: 'non',
    needsPerson: 'demande une personne connectée',
    permission: FR,
    tokens: 'Jetons',
    token: { name: 'Jeton', may: 'Il peut', not: 'Il ne peut pas' },
    nothing: 'lire le parc',
    idle: {
      expired: 'a expiré',
      holder_inactive: `ne fonctionne pas : son détenteur ne s’est pas connecté depuis ${HOLDER_ACTIVE_DAYS} jours`,
      ownerless: 'ne fonctionne pas : personne ne répond du compte de service',
    },
    why: { needs_person: 'demande une personne', not_held: 'le détenteur ne peut pas' },
  },
})

/** A right in the reader's words; its code where this page does not know it. */
export const nameRight = (permission: string): string =>
  say(rightsTexts).permission[permission as Permission] ?? permission

/** Several rights in the reader's words. */
export const nameRights = (permissions: readonly string[]): string => permissions.map(nameRight).join(' · ')
