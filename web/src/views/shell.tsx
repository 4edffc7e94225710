import { t } from "../model/words.ts";

export function Shell() {
  return <main>{t("overview")}</main>;
}
