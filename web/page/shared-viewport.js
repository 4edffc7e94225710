import{i as e}from"./shared-preact.js";var o=e(void 0),r=e(void 0),t=e([]);export{o as a,r as b,t as c};
