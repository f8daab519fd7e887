import { defineTexts } from './define.ts'

/** The names of the sections of the settings, for the page itself and for what leads to it. */
export const sectionTexts = defineTexts({
  en: {
    profile: 'Profile',
    tokens: 'Tokens',
    users: 'Users',
    'user-groups': 'User groups',
    machines: 'Service accounts',
    'single-sign-on': 'Single sign-on',
    groups: 'Push groups',
    labels: 'Trusted labels',
    'label-rules': 'Label rules',
    approvals: 'Approvals',
    links: 'Links out',
    freeze: 'Freeze',
    processes: 'Processes',
    system: 'System',
  },
  fr: {
    profile: 'Profil',
    tokens: 'Jetons',
    users: 'Utilisateurs',
    'user-groups': 'Groupes d’utilisateurs',
    machines: 'Comptes de service',
    'single-sign-on': 'Connexion unique',
    groups: 'Groupes de poussée',
    labels: 'Étiquettes de confiance',
    'label-rules': 'Règles d’étiquettes',
    approvals: 'Approbations',
    links: 'Liens externes',
    freeze: 'Gel',
    processes: 'Processus',
    system: 'Système',
  },
})
