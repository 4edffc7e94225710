var n=e=>[...e].reduce((t,r)=>t+(r>"⹿"?12.2:6.2),0);export{n as a};
