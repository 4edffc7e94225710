// What tables say of themselves. Set once by the shell; widgets do not know the language.
interface TableWords {
  menu: string;
  copyCell: string;
  copyRow: string;
  filter: string;
  timeline: string;
  descending: string;
  ascending: string;
  fit: string;
  left: string;
  right: string;
  reset: string;
  more: string;
}

export const tableWords: { current: TableWords } = {
  current: {
    menu: "",
    copyCell: "",
    copyRow: "",
    filter: "",
    timeline: "",
    descending: "",
    ascending: "",
    fit: "",
    left: "",
    right: "",
    reset: "",
    more: "",
  },
};
