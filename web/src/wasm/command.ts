// `npx tacho …`: the command line of tacho in node. Commands that need Linux say so; serve is here (serve.ts).
import { nodeHost, theModule } from "./node-host.ts";
import { start } from "./program.ts";
import { Exit } from "./wasi.ts";

async function run(args: readonly string[]): Promise<number> {
  if (args[0] === "serve" && !args.includes("--help")) return (await import("./serve.ts")).serve(args.slice(1));
  const program = await start(theModule(), nodeHost(args));
  try {
    program.main();
    return 0;
  } catch (e) {
    if (e instanceof Exit) return e.status;
    throw e;
  }
}

process.exitCode = await run(process.argv.slice(2));
