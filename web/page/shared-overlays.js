import{i as e}from"./shared-preact.js";var r=e(void 0),t=n=>{r.value=n},a=()=>{r.value=void 0};export{r as a,t as b,a as c};
